package provider_test

import (
	"maps"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// invoked is what an action said on its way, and at its end.
type invoked struct {
	progress []string
	errors   []*tfprotov6.Diagnostic
}

// invoke validates, plans and invokes an action, as Terraform 1.14 does. The
// tests' Terraform and OpenTofu know no actions, so it is done in process.
func (b *testBridge) invoke(action string, arguments map[string]tftypes.Value) invoked {
	b.t.Helper()

	server := b.serve()
	actions, ok := server.ProviderServer.(tfprotov6.ActionServer)
	if !ok {
		b.t.Fatal("the provider serves no actions")
	}
	config := dynamic(b.t, server.schema.ActionSchemas[action].Schema.ValueType(), arguments)

	validated, err := actions.ValidateActionConfig(b.t.Context(), &tfprotov6.ValidateActionConfigRequest{ActionType: action, Config: config})
	if err != nil {
		b.t.Fatal(err)
	}
	if len(validated.Diagnostics) > 0 {
		return invoked{errors: validated.Diagnostics}
	}
	planned, err := actions.PlanAction(b.t.Context(), &tfprotov6.PlanActionRequest{ActionType: action, Config: config})
	if err != nil || len(planned.Diagnostics) > 0 {
		b.t.Fatalf("plan: %v, %v", err, planned.Diagnostics)
	}

	stream, err := actions.InvokeAction(b.t.Context(), &tfprotov6.InvokeActionRequest{ActionType: action, Config: config})
	if err != nil {
		b.t.Fatal(err)
	}
	var result invoked
	for event := range stream.Events {
		switch e := event.Type.(type) {
		case tfprotov6.ProgressInvokeActionEventType:
			result.progress = append(result.progress, e.Message)
		case tfprotov6.CompletedInvokeActionEventType:
			result.errors = e.Diagnostics
		}
	}

	return result
}

// dynamic is an object of a type; attributes that are not given are null.
func dynamic(t *testing.T, of tftypes.Type, given map[string]tftypes.Value) *tfprotov6.DynamicValue {
	t.Helper()

	object, ok := of.(tftypes.Object)
	if !ok {
		t.Fatalf("%s is no object", of)
	}
	values := make(map[string]tftypes.Value, len(object.AttributeTypes))
	for name, attribute := range object.AttributeTypes {
		values[name] = tftypes.NewValue(attribute, nil)
	}
	maps.Copy(values, given)

	value, err := tfprotov6.NewDynamicValue(of, tftypes.NewValue(of, values))
	if err != nil {
		t.Fatal(err)
	}

	return &value
}
