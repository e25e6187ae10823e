package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// The types below are the JSON of `terraform providers schema -json`, format 1.0.
type (
	schemas struct {
		FormatVersion string                   `json:"format_version"`
		Schemas       map[string]*providerJSON `json:"provider_schemas"`
	}

	providerJSON struct {
		Provider           *schemaJSON              `json:"provider,omitempty"`
		Resources          map[string]*schemaJSON   `json:"resource_schemas,omitempty"`
		DataSources        map[string]*schemaJSON   `json:"data_source_schemas,omitempty"`
		EphemeralResources map[string]*schemaJSON   `json:"ephemeral_resource_schemas,omitempty"`
		ListResources      map[string]*schemaJSON   `json:"list_resource_schemas,omitempty"`
		Actions            map[string]*actionJSON   `json:"action_schemas,omitempty"`
		Functions          map[string]*functionJSON `json:"functions,omitempty"`
		Identities         map[string]*identityJSON `json:"resource_identity_schemas,omitempty"`
	}

	schemaJSON struct {
		Version int64      `json:"version"`
		Block   *blockJSON `json:"block,omitempty"`
	}

	actionJSON struct {
		Block *blockJSON `json:"block,omitempty"`
	}

	blockJSON struct {
		Attributes      map[string]*attributeJSON   `json:"attributes,omitempty"`
		BlockTypes      map[string]*nestedBlockJSON `json:"block_types,omitempty"`
		Description     string                      `json:"description,omitempty"`
		DescriptionKind string                      `json:"description_kind,omitempty"`
		Deprecated      bool                        `json:"deprecated,omitempty"`
	}

	attributeJSON struct {
		Type            any             `json:"type,omitempty"`
		NestedType      *nestedTypeJSON `json:"nested_type,omitempty"`
		Description     string          `json:"description,omitempty"`
		DescriptionKind string          `json:"description_kind,omitempty"`
		Deprecated      bool            `json:"deprecated,omitempty"`
		Required        bool            `json:"required,omitempty"`
		Optional        bool            `json:"optional,omitempty"`
		Computed        bool            `json:"computed,omitempty"`
		Sensitive       bool            `json:"sensitive,omitempty"`
		WriteOnly       bool            `json:"write_only,omitempty"`
	}

	nestedTypeJSON struct {
		Attributes  map[string]*attributeJSON `json:"attributes,omitempty"`
		NestingMode string                    `json:"nesting_mode,omitempty"`
	}

	nestedBlockJSON struct {
		NestingMode string     `json:"nesting_mode,omitempty"`
		Block       *blockJSON `json:"block,omitempty"`
		MinItems    int64      `json:"min_items,omitempty"`
		MaxItems    int64      `json:"max_items,omitempty"`
	}

	functionJSON struct {
		Description        string           `json:"description,omitempty"`
		Summary            string           `json:"summary,omitempty"`
		DeprecationMessage string           `json:"deprecation_message,omitempty"`
		ReturnType         any              `json:"return_type"`
		Parameters         []*parameterJSON `json:"parameters,omitempty"`
		VariadicParameter  *parameterJSON   `json:"variadic_parameter,omitempty"`
	}

	parameterJSON struct {
		Name        string `json:"name,omitempty"`
		Description string `json:"description,omitempty"`
		IsNullable  bool   `json:"is_nullable,omitempty"`
		Type        any    `json:"type"`
	}

	identityJSON struct {
		Version    int64                             `json:"version"`
		Attributes map[string]*identityAttributeJSON `json:"attributes,omitempty"`
	}

	identityAttributeJSON struct {
		Type              any    `json:"type,omitempty"`
		Description       string `json:"description,omitempty"`
		RequiredForImport bool   `json:"required_for_import,omitempty"`
		OptionalForImport bool   `json:"optional_for_import,omitempty"`
	}
)

// providerSchema asks a provider server for everything it declares.
func providerSchema(ctx context.Context, server tfprotov6.ProviderServer) (*providerJSON, error) {
	declared, err := server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{})
	if err == nil {
		err = diagnosticsError(declared.Diagnostics)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the provider schema: %w", err)
	}

	identities, err := server.GetResourceIdentitySchemas(ctx, &tfprotov6.GetResourceIdentitySchemasRequest{})
	if err == nil {
		err = diagnosticsError(identities.Diagnostics)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the resource identity schemas: %w", err)
	}

	return &providerJSON{
		Provider:           schemaOf(declared.Provider),
		Resources:          mapValues(declared.ResourceSchemas, schemaOf),
		DataSources:        mapValues(declared.DataSourceSchemas, schemaOf),
		EphemeralResources: mapValues(declared.EphemeralResourceSchemas, schemaOf),
		ListResources:      mapValues(declared.ListResourceSchemas, schemaOf),
		Actions:            mapValues(declared.ActionSchemas, actionOf),
		Functions:          mapValues(declared.Functions, functionOf),
		Identities:         mapValues(identities.IdentitySchemas, identityOf),
	}, nil
}

// diagnosticsError joins the errors among the diagnostics of an answer.
func diagnosticsError(diagnostics []*tfprotov6.Diagnostic) error {
	var errs []error
	for _, d := range diagnostics {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			errs = append(errs, fmt.Errorf("%s: %s", d.Summary, d.Detail))
		}
	}

	return errors.Join(errs...)
}

func schemaOf(s *tfprotov6.Schema) *schemaJSON {
	return &schemaJSON{Version: s.Version, Block: blockOf(s.Block)}
}

func actionOf(a *tfprotov6.ActionSchema) *actionJSON {
	return &actionJSON{Block: blockOf(a.Schema.Block)}
}

func blockOf(b *tfprotov6.SchemaBlock) *blockJSON {
	return &blockJSON{
		Attributes:      attributesOf(b.Attributes),
		BlockTypes:      nestedBlocksOf(b.BlockTypes),
		Description:     b.Description,
		DescriptionKind: kindOf(b.DescriptionKind),
		Deprecated:      b.Deprecated,
	}
}

func nestedBlocksOf(blocks []*tfprotov6.SchemaNestedBlock) map[string]*nestedBlockJSON {
	out := make(map[string]*nestedBlockJSON, len(blocks))
	for _, b := range blocks {
		out[b.TypeName] = &nestedBlockJSON{
			NestingMode: nestingModes[b.Nesting.String()],
			Block:       blockOf(b.Block),
			MinItems:    b.MinItems,
			MaxItems:    b.MaxItems,
		}
	}

	return out
}

func attributesOf(attributes []*tfprotov6.SchemaAttribute) map[string]*attributeJSON {
	out := make(map[string]*attributeJSON, len(attributes))
	for _, a := range attributes {
		attribute := &attributeJSON{
			Description:     a.Description,
			DescriptionKind: kindOf(a.DescriptionKind),
			Deprecated:      a.Deprecated,
			Required:        a.Required,
			Optional:        a.Optional,
			Computed:        a.Computed,
			Sensitive:       a.Sensitive,
			WriteOnly:       a.WriteOnly,
		}
		if a.NestedType != nil {
			attribute.NestedType = &nestedTypeJSON{
				Attributes:  attributesOf(a.NestedType.Attributes),
				NestingMode: nestingModes[a.NestedType.Nesting.String()],
			}
		} else {
			attribute.Type = typeOf(a.Type)
		}
		out[a.Name] = attribute
	}

	return out
}

func functionOf(f *tfprotov6.Function) *functionJSON {
	function := &functionJSON{
		Description:        f.Description,
		Summary:            f.Summary,
		DeprecationMessage: f.DeprecationMessage,
		ReturnType:         typeOf(f.Return.Type),
	}
	for _, p := range f.Parameters {
		function.Parameters = append(function.Parameters, parameterOf(p))
	}
	if f.VariadicParameter != nil {
		function.VariadicParameter = parameterOf(f.VariadicParameter)
	}

	return function
}

func parameterOf(p *tfprotov6.FunctionParameter) *parameterJSON {
	return &parameterJSON{
		Name:        p.Name,
		Description: p.Description,
		IsNullable:  p.AllowNullValue,
		Type:        typeOf(p.Type),
	}
}

func identityOf(s *tfprotov6.ResourceIdentitySchema) *identityJSON {
	identity := &identityJSON{Version: s.Version, Attributes: map[string]*identityAttributeJSON{}}
	for _, a := range s.IdentityAttributes {
		identity.Attributes[a.Name] = &identityAttributeJSON{
			Type:              typeOf(a.Type),
			Description:       a.Description,
			RequiredForImport: a.RequiredForImport,
			OptionalForImport: a.OptionalForImport,
		}
	}

	return identity
}

// nestingModes are Terraform's names of the protocol's nesting modes.
var nestingModes = map[string]string{
	"SINGLE": "single",
	"GROUP":  "group",
	"LIST":   "list",
	"SET":    "set",
	"MAP":    "map",
}

func kindOf(kind tfprotov6.StringKind) string {
	if kind == tfprotov6.StringKindMarkdown {
		return "markdown"
	}

	return "plain"
}

// typeOf is a type constraint in JSON: a name, or a list of a kind of
// collection and its element types.
func typeOf(t tftypes.Type) any {
	switch t := t.(type) {
	case tftypes.List:
		return []any{"list", typeOf(t.ElementType)}
	case tftypes.Set:
		return []any{"set", typeOf(t.ElementType)}
	case tftypes.Map:
		return []any{"map", typeOf(t.ElementType)}
	case tftypes.Object:
		return []any{"object", mapValues(t.AttributeTypes, typeOf)}
	case tftypes.Tuple:
		elements := make([]any, 0, len(t.ElementTypes))
		for _, element := range t.ElementTypes {
			elements = append(elements, typeOf(element))
		}
		return []any{"tuple", elements}
	case nil:
		return nil
	}

	switch {
	case t.Is(tftypes.String):
		return "string"
	case t.Is(tftypes.Bool):
		return "bool"
	case t.Is(tftypes.Number):
		return "number"
	default:
		return "dynamic"
	}
}

// mapValues converts every value of a map.
func mapValues[K comparable, In, Out any](in map[K]In, convert func(In) Out) map[K]Out {
	out := make(map[K]Out, len(in))
	for key, value := range in {
		out[key] = convert(value)
	}

	return out
}
