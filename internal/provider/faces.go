package provider

import (
	"fmt"

	action "github.com/hashicorp/terraform-plugin-framework/action/schema"
	datasource "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	ephemeral "github.com/hashicorp/terraform-plugin-framework/ephemeral/schema"
	resource "github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/boolplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/int64planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/listplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/mapplanmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/planmodifier"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringplanmodifier"
)

// What several kinds of objects have in common is declared once, in the types
// of a data source. The framework has types of its own for every kind; these
// functions make them.

// ephemeralAttributes are the same attributes for an ephemeral resource.
func ephemeralAttributes(shared map[string]datasource.Attribute) map[string]ephemeral.Attribute {
	return mapValues(shared, func(name string, shared datasource.Attribute) ephemeral.Attribute {
		switch a := shared.(type) {
		case datasource.StringAttribute:
			return ephemeral.StringAttribute(a)
		case datasource.BoolAttribute:
			return ephemeral.BoolAttribute(a)
		case datasource.Int64Attribute:
			return ephemeral.Int64Attribute(a)
		case datasource.ListAttribute:
			return ephemeral.ListAttribute(a)
		case datasource.MapAttribute:
			return ephemeral.MapAttribute(a)
		case datasource.SingleNestedAttribute:
			return ephemeral.SingleNestedAttribute{
				Attributes: ephemeralAttributes(a.Attributes), Computed: a.Computed, MarkdownDescription: a.MarkdownDescription,
			}
		default:
			panic(noFace(name, shared))
		}
	})
}

// actionAttributes are the same arguments for an action. It has no results, and
// no attribute of an action can be marked as sensitive, although a saved plan has
// them.
func actionAttributes(shared map[string]datasource.Attribute) map[string]action.Attribute {
	return mapValues(shared, func(name string, shared datasource.Attribute) action.Attribute {
		switch a := shared.(type) {
		case datasource.StringAttribute:
			return action.StringAttribute{
				Required: a.Required, Optional: a.Optional, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
			}
		case datasource.BoolAttribute:
			return action.BoolAttribute{
				Required: a.Required, Optional: a.Optional, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
			}
		case datasource.Int64Attribute:
			return action.Int64Attribute{
				Required: a.Required, Optional: a.Optional, MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
			}
		case datasource.ListAttribute:
			return action.ListAttribute{
				ElementType: a.ElementType, Required: a.Required, Optional: a.Optional, MarkdownDescription: a.MarkdownDescription,
				Validators: a.Validators,
			}
		case datasource.MapAttribute:
			return action.MapAttribute{
				ElementType: a.ElementType, Required: a.Required, Optional: a.Optional, MarkdownDescription: a.MarkdownDescription,
				Validators: a.Validators,
			}
		default:
			panic(noFace(name, shared))
		}
	})
}

// resourceAttributes are the same attributes for a resource whose results stay
// as they are until it is made anew. replaces tells which arguments do that.
func resourceAttributes(shared map[string]datasource.Attribute, replaces func(name string) bool) map[string]resource.Attribute {
	return mapValues(shared, func(name string, shared datasource.Attribute) resource.Attribute {
		switch a := shared.(type) {
		case datasource.StringAttribute:
			return resource.StringAttribute{
				Required: a.Required, Optional: a.Optional, Computed: a.Computed, Sensitive: a.Sensitive,
				MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
				PlanModifiers: either[planmodifier.String](a.Computed, stringplanmodifier.UseStateForUnknown(), replaces(name), stringplanmodifier.RequiresReplace()),
			}
		case datasource.BoolAttribute:
			return resource.BoolAttribute{
				Required: a.Required, Optional: a.Optional, Computed: a.Computed, Sensitive: a.Sensitive,
				MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
				PlanModifiers: either[planmodifier.Bool](a.Computed, boolplanmodifier.UseStateForUnknown(), replaces(name), boolplanmodifier.RequiresReplace()),
			}
		case datasource.Int64Attribute:
			return resource.Int64Attribute{
				Required: a.Required, Optional: a.Optional, Computed: a.Computed, Sensitive: a.Sensitive,
				MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
				PlanModifiers: either[planmodifier.Int64](a.Computed, int64planmodifier.UseStateForUnknown(), replaces(name), int64planmodifier.RequiresReplace()),
			}
		case datasource.ListAttribute:
			return resource.ListAttribute{
				ElementType: a.ElementType, Required: a.Required, Optional: a.Optional, Computed: a.Computed, Sensitive: a.Sensitive,
				MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
				PlanModifiers: either[planmodifier.List](a.Computed, listplanmodifier.UseStateForUnknown(), replaces(name), listplanmodifier.RequiresReplace()),
			}
		case datasource.MapAttribute:
			return resource.MapAttribute{
				ElementType: a.ElementType, Required: a.Required, Optional: a.Optional, Computed: a.Computed, Sensitive: a.Sensitive,
				MarkdownDescription: a.MarkdownDescription, Validators: a.Validators,
				PlanModifiers: either[planmodifier.Map](a.Computed, mapplanmodifier.UseStateForUnknown(), replaces(name), mapplanmodifier.RequiresReplace()),
			}
		default:
			panic(noFace(name, shared))
		}
	})
}

// either is the modifier of a result, that of an argument which replaces, or
// none.
func either[M any](result bool, keep M, replaces bool, replace M) []M {
	switch {
	case result:
		return []M{keep}
	case replaces:
		return []M{replace}
	default:
		return nil
	}
}

func mapValues[In, Out any](in map[string]In, convert func(string, In) Out) map[string]Out {
	out := make(map[string]Out, len(in))
	for name, value := range in {
		out[name] = convert(name, value)
	}

	return out
}

// noFace is a mistake in the provider's own source, which no user can cause.
func noFace(name string, attribute datasource.Attribute) string {
	return fmt.Sprintf("attribute %s has the type %T, which faces.go does not know", name, attribute)
}
