#!/usr/bin/env bash
echo "a tool of yours"
