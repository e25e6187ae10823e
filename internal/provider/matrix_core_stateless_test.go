package provider_test

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// read reads a data source.
func (c *core) read(ctx context.Context, kind string, given arguments) (tftypes.Value, error) {
	of := c.schema.DataSourceSchemas[ofProvider+kind].ValueType()
	answer, err := c.server.ReadDataSource(ctx, &tfprotov6.ReadDataSourceRequest{TypeName: ofProvider + kind, Config: c.dynamic(typed(of, given))})
	if err == nil {
		err = failure(answer.Diagnostics)
	}
	if err != nil {
		return typed(of, nil), err
	}
	return static(answer.State, of)
}

// openedObject is an ephemeral resource between its opening and its closing.
type openedObject struct {
	value   tftypes.Value
	private []byte
}

func (c *core) open(ctx context.Context, kind string, given arguments) (openedObject, error) {
	of := c.schema.EphemeralResourceSchemas[ofProvider+kind].ValueType()
	answer, err := c.server.OpenEphemeralResource(ctx, &tfprotov6.OpenEphemeralResourceRequest{
		TypeName: ofProvider + kind, Config: c.dynamic(typed(of, given)),
	})
	if err == nil {
		err = failure(answer.Diagnostics)
	}
	if err != nil {
		return openedObject{value: typed(of, nil)}, err
	}
	value, err := static(answer.Result, of)
	return openedObject{value: value, private: answer.Private}, err
}

func (c *core) renew(ctx context.Context, kind string, from openedObject) error {
	answer, err := c.server.RenewEphemeralResource(ctx, &tfprotov6.RenewEphemeralResourceRequest{TypeName: ofProvider + kind, Private: from.private})
	if err != nil {
		return err
	}
	return failure(answer.Diagnostics)
}

func (c *core) close(ctx context.Context, kind string, from openedObject) error {
	answer, err := c.server.CloseEphemeralResource(ctx, &tfprotov6.CloseEphemeralResourceRequest{TypeName: ofProvider + kind, Private: from.private})
	if err != nil {
		return err
	}
	return failure(answer.Diagnostics)
}

// invoke runs an action to its end.
func (c *core) invoke(ctx context.Context, kind string, given arguments) error {
	server, ok := c.server.(tfprotov6.ActionServer)
	if !ok {
		return errors.New("the provider serves no actions")
	}
	of := c.schema.ActionSchemas[ofProvider+kind].Schema.ValueType()
	stream, err := server.InvokeAction(ctx, &tfprotov6.InvokeActionRequest{ActionType: ofProvider + kind, Config: c.dynamic(typed(of, given))})
	if err != nil {
		return err
	}
	for event := range stream.Events {
		if end, isEnd := event.Type.(tfprotov6.CompletedInvokeActionEventType); isEnd {
			err = failure(end.Diagnostics)
		}
	}
	return err
}
