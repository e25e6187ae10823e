"""A bucket store on loopback, for tests of mounts where a sandbox reaches no other.

It speaks as much of S3 as s3fs needs to mount, and to write and read a file. Every
bucket exists, but for one called "missing"; one called "denied" accepts no key.
"""

import http.server
import re
import sys
import urllib.parse

objects = {}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def reply(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def handle_any(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = urllib.parse.unquote(urllib.parse.urlparse(self.path).path)
        bucket, _, key = path.strip("/").partition("/")
        if bucket in ("missing", "denied"):
            code = "NoSuchBucket" if bucket == "missing" else "AccessDenied"
            text = "<Error><Code>%s</Code><Message>%s</Message></Error>" % (code, self.headers.get("Authorization"))
            self.reply(404 if bucket == "missing" else 403, text.encode())
        elif self.command == "PUT":
            objects[bucket, key] = body
            self.reply(200, headers=[("ETag", '"0"')])
        elif self.command == "DELETE":
            objects.pop((bucket, key), None)
            self.reply(204)
        elif not key:
            self.list(bucket)
        elif (bucket, key) in objects:
            self.reply(200, objects[bucket, key], [("ETag", '"0"'), ("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT")])
        else:
            self.reply(404)

    def list(self, bucket):
        query = urllib.parse.parse_qs(urllib.parse.urlparse(self.path).query)
        prefix = query.get("prefix", [""])[0]
        entries = "".join(
            "<Contents><Key>%s</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified><ETag>0</ETag>"
            "<Size>%d</Size><StorageClass>STANDARD</StorageClass></Contents>" % (key, len(content))
            for (of, key), content in objects.items()
            if of == bucket and key.startswith(prefix) and re.match("[^/]*/?$", key[len(prefix):])
        )
        text = (
            '<?xml version="1.0" encoding="UTF-8"?><ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">'
            "<Name>%s</Name><Prefix>%s</Prefix><IsTruncated>false</IsTruncated>%s</ListBucketResult>" % (bucket, prefix, entries)
        )
        self.reply(200, text.encode(), [("Content-Type", "application/xml")])

    do_GET = do_HEAD = do_PUT = do_DELETE = do_POST = handle_any


http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
