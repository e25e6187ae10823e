package provider_test

import (
	"fmt"
	"maps"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// arguments are what a configuration gives to an object, by attribute: strings,
// numbers, bools, nil, and lists ([]any) and maps or objects (arguments) of them.
type arguments map[string]any

// typed makes a value of Terraform's out of one of Go's. Attributes that are not
// given are null.
func typed(of tftypes.Type, given any) tftypes.Value {
	if given == nil {
		return tftypes.NewValue(of, nil)
	}
	switch of := of.(type) {
	case tftypes.Object:
		values := make(map[string]tftypes.Value, len(of.AttributeTypes))
		for name, attribute := range of.AttributeTypes {
			values[name] = typed(attribute, given.(arguments)[name])
		}
		return tftypes.NewValue(of, values)
	case tftypes.Map:
		values := map[string]tftypes.Value{}
		for name, element := range given.(arguments) {
			values[name] = typed(of.ElementType, element)
		}
		return tftypes.NewValue(of, values)
	case tftypes.List:
		var values []tftypes.Value
		for _, element := range given.([]any) {
			values = append(values, typed(of.ElementType, element))
		}
		return tftypes.NewValue(of, values)
	default:
		return tftypes.NewValue(of, given)
	}
}

// proposed is what Terraform proposes for a plan: the configuration, and what
// it leaves to the provider from the prior state.
func proposed(schema *tfprotov6.Schema, prior, config tftypes.Value) tftypes.Value {
	before, after := attributesOf(prior), maps.Clone(attributesOf(config))
	for _, attribute := range schema.Block.Attributes {
		switch given := after[attribute.Name]; {
		case attribute.WriteOnly:
			after[attribute.Name] = tftypes.NewValue(given.Type(), nil)
		case given.IsNull() && attribute.Computed && !prior.IsNull():
			after[attribute.Name] = before[attribute.Name]
		}
	}
	return tftypes.NewValue(config.Type(), after)
}

// attributesOf takes an object apart; null has no attributes.
func attributesOf(object tftypes.Value) map[string]tftypes.Value {
	attributes := map[string]tftypes.Value{}
	if !object.IsNull() {
		if err := object.As(&attributes); err != nil {
			panic(err) // every schema is an object
		}
	}
	return attributes
}

// attribute reads an attribute of an object as text; "" if there is none.
func attribute(object tftypes.Value, name string) string {
	value, ok := attributesOf(object)[name]
	if !ok || value.IsNull() || !value.IsKnown() {
		return ""
	}
	switch {
	case value.Type().Is(tftypes.String):
		var text string
		_ = value.As(&text)
		return text
	case value.Type().Is(tftypes.Bool):
		var truth bool
		_ = value.As(&truth)
		return fmt.Sprint(truth)
	default:
		return value.String()
	}
}

// attributesOfMap reads a map of texts.
func attributesOfMap(object tftypes.Value, name string) map[string]string {
	elements := map[string]tftypes.Value{}
	texts := map[string]string{}
	if value := attributesOf(object)[name]; value.IsKnown() && !value.IsNull() && value.As(&elements) == nil {
		for key, element := range elements {
			var text string
			_ = element.As(&text)
			texts[key] = text
		}
	}
	return texts
}
