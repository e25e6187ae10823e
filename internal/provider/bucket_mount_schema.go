package provider

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-timeouts/resource/timeouts"
	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/booldefault"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"terraform-provider-cloudflaresandbox/internal/bridge"
)

// bucketMountSchema is the schema of the bucket mount resource.
func bucketMountSchema(ctx context.Context) schema.Schema {
	mount := schema.Schema{
		MarkdownDescription: "A bucket as a directory of a sandbox, mounted with s3fs: any S3-compatible bucket by its endpoint, or an R2 bucket " +
			"that is bound to the bridge's Worker.\n\n" +
			"After mounting, and at every refresh, the sandbox's own table of mounts tells whether the mount is there and whether it may be " +
			"written to. One that is gone is planned again: after the sandbox slept or crashed, and when somebody unmounted it or s3fs " +
			"ended. What is mounted at the path by others is never touched; it is an error. Destroying the resource unmounts the bucket " +
			"and removes the directory if it is empty; in the bucket nothing is deleted.\n\n" +
			"The keys are in neither plan nor state, in no log and in no error. They are in the sandbox, though, in a file that its " +
			"commands can read, unless `credential_proxy` or a `binding` keeps them out. Every argument but `timeouts` makes the mount anew. There is " +
			"no import, since nothing in a sandbox tells which bucket a mount shows.",
		Attributes: map[string]schema.Attribute{
			"sandbox_id": sandboxIDAttribute(),
			"mount_path": schema.StringAttribute{
				MarkdownDescription: "Directory to mount at, absolute or relative to `/workspace`. It is made if it is missing, and has to be empty. " +
					"The bridge allows any place where the sandbox's user can make a directory, which is below `/workspace`, `/home/sandbox` and " +
					"`/tmp`. Letters, digits and `. _ ~ @ + = : , -` are possible; the bridge could not unmount other paths.",
				Required:   true,
				Validators: []validator.String{mountPath()},
				PlanModifiers: []planmodifier.String{
					sameSpelling{canonical: bridge.CleanMountPath},
					stringplanmodifier.RequiresReplace(),
				},
			},
			"read_only": schema.BoolAttribute{
				MarkdownDescription: "Whether the sandbox can only read. Default: `false`.",
				Optional:            true,
				Computed:            true,
				Default:             booldefault.StaticBool(false),
				PlanModifiers:       []planmodifier.Bool{boolplanmodifier.RequiresReplace()},
			},
			"s3fs_options": schema.ListAttribute{
				MarkdownDescription: "More options for s3fs, one an element, such as `max_stat_cache_size=100000`. Those that the bridge or the provider " +
					"sets are refused: `passwd_file`, `url`, `fsname`, `ro` and `rw`, and with a credential proxy `ahbe_conf` and `use_path_request_style`.",
				ElementType:   types.StringType,
				Optional:      true,
				Validators:    []validator.List{listvalidator.NoNullValues()},
				PlanModifiers: []planmodifier.List{listplanmodifier.RequiresReplace()},
			},
			"mount_id": computedString("Name under which the kernel lists the mount, for example in `df`. Every mount has a new one, so what refers to " +
				"it is done again after the bucket was mounted anew."),
			"instance_id": computedString("Id of the container that has the mount, as in the sandbox's `instance_id`."),
			"timeouts": timeoutsAttribute(ctx, timeouts.Opts{
				CreateDescription: "Default: `5m`.",
				ReadDescription:   "Default: `5m`.",
				DeleteDescription: "Default: `5m`.",
			}),
		},
	}
	maps.Copy(mount.Attributes, bucketAttributes())
	maps.Copy(mount.Attributes, bucketKeyAttributes())

	return mount
}

// bucketAttributes say what is mounted.
func bucketAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"bucket": schema.StringAttribute{
			MarkdownDescription: "Name of the bucket; needs `endpoint`. Exactly one of `bucket` and `binding` is needed.",
			Optional:            true,
			Validators: []validator.String{
				bucketName(),
				stringvalidator.ExactlyOneOf(path.MatchRoot("binding")),
				stringvalidator.AlsoRequires(path.MatchRoot("endpoint")),
			},
			PlanModifiers: replaced(),
		},
		"endpoint": schema.StringAttribute{
			MarkdownDescription: "URL of the S3-compatible service, for R2 `https://ACCOUNT_ID.r2.cloudflarestorage.com`. The sandbox has to reach it; " +
				"one that does not answer is given up after half a minute. Needs `bucket`.",
			Optional:      true,
			Validators:    []validator.String{mountEndpoint(), stringvalidator.AlsoRequires(path.MatchRoot("bucket"))},
			PlanModifiers: replaced(),
		},
		"binding": schema.StringAttribute{
			MarkdownDescription: "Name of an R2 binding of the bridge's Worker, from `r2_buckets` in its `wrangler.jsonc`. It takes no `endpoint`, no keys and no `credential_proxy`. The Worker has to " +
				"export `ContainerProxy`, which the published one does not.",
			Optional: true,
			Validators: []validator.String{
				bindingName(),
				stringvalidator.ConflictsWith(
					path.MatchRoot("endpoint"), path.MatchRoot("access_key_id_wo"), path.MatchRoot("secret_access_key_wo"),
					path.MatchRoot("credentials_wo_version"),
				),
			},
			PlanModifiers: replaced(),
		},
		"prefix": schema.StringAttribute{
			MarkdownDescription: "Part of the bucket to mount, such as `/reports`. Default: all of it.",
			Optional:            true,
			Validators:          []validator.String{mountPrefix()},
			PlanModifiers:       replaced(),
		},
	}
}

// bucketKeyAttributes say how to come at it.
func bucketKeyAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"credential_proxy": schema.BoolAttribute{
			MarkdownDescription: "Whether the keys stay outside of the sandbox: requests for the bucket then go through the bridge's Worker, which signs " +
				"them. Only for a `bucket`. The Worker has to export `ContainerProxy`, which the published one does not. Default: `false`.",
			Optional:      true,
			Computed:      true,
			Default:       booldefault.StaticBool(false),
			PlanModifiers: []planmodifier.Bool{boolplanmodifier.RequiresReplace()},
		},
		"access_key_id_wo": schema.StringAttribute{
			MarkdownDescription: "Access key id, kept in neither plan nor state; it may be ephemeral. Without keys the bridge uses those of its Worker: " +
				"the secrets `R2_ACCESS_KEY_ID` and `R2_SECRET_ACCESS_KEY`, or the same with `AWS_`. Needs `secret_access_key_wo` and " +
				"`credentials_wo_version`, and Terraform 1.11 or OpenTofu 1.11.",
			Optional:  true,
			WriteOnly: true,
			Sensitive: true,
			Validators: []validator.String{accessKeyID(), stringvalidator.AlsoRequires(
				path.MatchRoot("secret_access_key_wo"), path.MatchRoot("credentials_wo_version"),
			)},
		},
		"secret_access_key_wo": schema.StringAttribute{
			MarkdownDescription: "Secret access key, kept in neither plan nor state; it may be ephemeral. Needs `access_key_id_wo`, and " +
				"Terraform 1.11 or OpenTofu 1.11.",
			Optional:   true,
			WriteOnly:  true,
			Sensitive:  true,
			Validators: []validator.String{secretAccessKey(), stringvalidator.AlsoRequires(path.MatchRoot("access_key_id_wo"))},
		},
		"credentials_wo_version": schema.Int64Attribute{
			MarkdownDescription: "Number of the version of the keys. Terraform cannot compare what it does not keep: another number mounts anew.",
			Optional:            true,
			Validators:          []validator.Int64{int64validator.AlsoRequires(path.MatchRoot("access_key_id_wo"))},
			PlanModifiers:       []planmodifier.Int64{int64planmodifier.RequiresReplace()},
		},
	}
}

// replaced is for attributes whose change makes the resource anew.
func replaced() []planmodifier.String {
	return []planmodifier.String{stringplanmodifier.RequiresReplace()}
}
