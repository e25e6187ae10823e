package provider_test

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"terraform-provider-cloudflaresandbox/internal/bridge"
	"terraform-provider-cloudflaresandbox/internal/provider"
)

// core does for one object at a time what Terraform does, by the provider's
// protocol and in this process: an operation takes milliseconds, so that it can
// be tried under a thousand faults. One core is one run of Terraform.
type core struct {
	server tfprotov6.ProviderServer
	schema *tfprotov6.GetProviderSchemaResponse
}

// ofProvider is what all types start with.
const ofProvider = "cloudflaresandbox_"

// newCore starts the provider for a bridge. schema is that of another core, or
// nil.
func newCore(ctx context.Context, url, key string, schema *tfprotov6.GetProviderSchemaResponse, tune func(*bridge.Config)) (*core, error) {
	server, err := providerserver.NewProtocol6WithError(provider.NewTuned(tune)())()
	if err != nil {
		return nil, err
	}
	if schema == nil {
		if schema, err = server.GetProviderSchema(ctx, &tfprotov6.GetProviderSchemaRequest{}); err != nil {
			return nil, err
		}
	}
	c := &core{server: server, schema: schema}
	config := typed(schema.Provider.ValueType(), arguments{"api_url": url, "api_key": key})
	answer, err := server.ConfigureProvider(ctx, &tfprotov6.ConfigureProviderRequest{Config: c.dynamic(config)})
	if err != nil {
		return nil, err
	}
	return c, failure(answer.Diagnostics)
}

// diagnosedError is an operation that ended with error diagnostics.
type diagnosedError struct{ diagnostics []*tfprotov6.Diagnostic }

func (e *diagnosedError) Error() string {
	var texts []string
	for _, d := range e.diagnostics {
		texts = append(texts, d.Summary+": "+d.Detail)
	}
	return strings.Join(texts, "\n")
}

// failure is the errors among diagnostics, nil if there are none.
func failure(all []*tfprotov6.Diagnostic) error {
	var found []*tfprotov6.Diagnostic
	for _, d := range all {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			found = append(found, d)
		}
	}
	if found == nil {
		return nil
	}
	return &diagnosedError{found}
}

func (c *core) dynamic(value tftypes.Value) *tfprotov6.DynamicValue {
	dynamic, err := tfprotov6.NewDynamicValue(value.Type(), value)
	if err != nil {
		panic(err) // the value was made for its type
	}
	return &dynamic
}

func static(dynamic *tfprotov6.DynamicValue, of tftypes.Type) (tftypes.Value, error) {
	if dynamic == nil {
		return tftypes.NewValue(of, nil), nil
	}
	return dynamic.Unmarshal(of)
}

// stateOf is what a state has of one resource. A null value is not in the state.
type stateOf struct {
	value    tftypes.Value
	private  []byte
	identity *tfprotov6.ResourceIdentityData
	tainted  bool
}

// noState is the state before a resource is created.
func (c *core) noState(kind string) stateOf {
	return stateOf{value: tftypes.NewValue(c.schema.ResourceSchemas[ofProvider+kind].ValueType(), nil)}
}

// exists reports whether the state has it; the zero value has nothing.
func (s stateOf) exists() bool { return s.value.Type() != nil && !s.value.IsNull() }

// plannedChange is what a plan says of one resource.
type plannedChange struct {
	config, planned tftypes.Value
	private         []byte
	identity        *tfprotov6.ResourceIdentityData
	replaces        bool
}

// plan plans what brings a state to a configuration; nil arguments destroy.
func (c *core) plan(ctx context.Context, kind string, prior stateOf, given arguments) (*plannedChange, error) {
	schema := c.schema.ResourceSchemas[ofProvider+kind]
	config, next := typed(schema.ValueType(), nil), typed(schema.ValueType(), nil)
	if given != nil {
		config = typed(schema.ValueType(), given)
		next = proposed(schema, prior.value, config)
	}
	answer, err := c.server.PlanResourceChange(ctx, &tfprotov6.PlanResourceChangeRequest{
		TypeName: ofProvider + kind, PriorState: c.dynamic(prior.value), ProposedNewState: c.dynamic(next), Config: c.dynamic(config),
		PriorPrivate: prior.private, PriorIdentity: prior.identity,
	})
	if err == nil {
		err = failure(answer.Diagnostics)
	}
	if err != nil {
		return nil, err
	}
	change := &plannedChange{config: config, private: answer.PlannedPrivate, identity: answer.PlannedIdentity}
	change.planned, err = static(answer.PlannedState, schema.ValueType())
	before, after := attributesOf(prior.value), attributesOf(change.planned)
	for _, path := range answer.RequiresReplace {
		name := strings.Split(strings.TrimPrefix(path.String(), `AttributeName("`), `"`)[0]
		change.replaces = change.replaces || prior.exists() && !before[name].Equal(after[name])
	}
	return change, err
}

// apply brings a state to a configuration; nil arguments destroy. Also with an
// error the state is what Terraform would keep.
func (c *core) apply(ctx context.Context, kind string, prior stateOf, given arguments) (stateOf, error) {
	change, err := c.plan(ctx, kind, prior, given)
	if err != nil {
		return prior, err
	}
	if (change.replaces || prior.tainted) && given != nil {
		gone, err := c.apply(ctx, kind, prior, nil)
		if err != nil {
			return gone, err
		}
		return c.apply(ctx, kind, gone, given)
	}
	if change.planned.Equal(prior.value) {
		return prior, nil
	}
	answer, err := c.server.ApplyResourceChange(ctx, &tfprotov6.ApplyResourceChangeRequest{
		TypeName: ofProvider + kind, PriorState: c.dynamic(prior.value), PlannedState: c.dynamic(change.planned), Config: c.dynamic(change.config),
		PlannedPrivate: change.private, PlannedIdentity: change.identity,
	})
	if err != nil {
		return prior, err
	}
	next := stateOf{private: answer.Private, identity: answer.NewIdentity}
	if next.value, err = static(answer.NewState, prior.value.Type()); err != nil {
		return prior, err
	}
	err = failure(answer.Diagnostics)
	next.tainted = next.exists() && (prior.tainted || !prior.exists() && err != nil)
	if err == nil && !next.value.IsFullyKnown() {
		err = errors.New("after the apply there are unknown values")
	}
	return next, err
}

// refresh reads what there is of a resource.
func (c *core) refresh(ctx context.Context, kind string, prior stateOf) (stateOf, error) {
	answer, err := c.server.ReadResource(ctx, &tfprotov6.ReadResourceRequest{
		TypeName: ofProvider + kind, CurrentState: c.dynamic(prior.value), Private: prior.private, CurrentIdentity: prior.identity,
	})
	if err == nil {
		err = failure(answer.Diagnostics)
	}
	if err != nil {
		return prior, err
	}
	next := stateOf{private: answer.Private, identity: answer.NewIdentity}
	next.value, err = static(answer.NewState, prior.value.Type())
	next.tainted = prior.tainted && next.exists()
	return next, err
}

// adopt imports a resource by its id and reads it.
func (c *core) adopt(ctx context.Context, kind, id string) (stateOf, error) {
	none := c.noState(kind)
	answer, err := c.server.ImportResourceState(ctx, &tfprotov6.ImportResourceStateRequest{TypeName: ofProvider + kind, ID: id})
	if err == nil {
		err = failure(answer.Diagnostics)
	}
	if err != nil {
		return none, err
	}
	if len(answer.ImportedResources) != 1 {
		return none, fmt.Errorf("%d resources were imported", len(answer.ImportedResources))
	}
	found := answer.ImportedResources[0]
	imported := stateOf{private: found.Private, identity: found.Identity}
	if imported.value, err = static(found.State, none.value.Type()); err != nil {
		return none, err
	}
	next, err := c.refresh(ctx, kind, imported)
	if err != nil {
		return none, err
	}
	return next, nil
}

// converge is a refresh and as many applies as it takes, at most three, until
// a plan is empty.
func (c *core) converge(ctx context.Context, kind string, state stateOf, given arguments) (stateOf, error) {
	for range 3 {
		var err error
		if state.exists() {
			if state, err = c.refresh(ctx, kind, state); err != nil {
				return state, fmt.Errorf("refresh: %w", err)
			}
		}
		change, err := c.plan(ctx, kind, state, given)
		if err != nil {
			return state, fmt.Errorf("plan: %w", err)
		}
		if state.exists() && !state.tainted && change.planned.Equal(state.value) {
			return state, nil
		}
		if state, err = c.apply(ctx, kind, state, given); err != nil {
			return state, fmt.Errorf("apply: %w", err)
		}
	}
	return state, errors.New("the plan does not become empty")
}
