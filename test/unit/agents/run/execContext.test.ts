import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test, type TestContext } from 'node:test';
import {
  BatchNode,
  type ExecContext,
  Flow,
  LLMClient,
  Node,
  type NodeContext,
  ParallelBatchNode,
  type TraceEvent,
} from '../../../../src/agents/index.ts';
import { withGrowingLimit } from '../../timeLimits.ts';
import { chatServer, json, reply } from '../llm/llmServer.ts';

/** A service that never replies, and a count of the requests that are open there. */
async function silentService(t: TestContext) {
  let open = 0;
  let received = 0;
  let notify: (() => void) | undefined;
  const { baseUrl } = await chatServer(t, (response) => {
    received += 1;
    open += 1;
    response.on('close', () => {
      open -= 1;
      notify?.();
    });
    notify?.();
  });
  const until = async (isReached: () => boolean): Promise<void> => {
    while (!isReached()) await new Promise<void>((resolve) => (notify = resolve));
  };
  return {
    llm: new LLMClient({ baseUrl, model: 'm' }),
    received: (count: number) => until(() => received >= count),
    idle: () => until(() => received > 0 && open === 0),
    requests: () => received,
  };
}

test('every hook gets a signal and emit as its last argument', async () => {
  const seen: string[] = [];
  const note = (hook: string, { signal, emit }: NodeContext): void => {
    seen.push(`${hook} ${signal === stop.signal}`);
    emit(hook);
  };
  class Step extends Node<object, number, number> {
    override prep(_shared: object, context: NodeContext): number {
      note('prep', context);
      return 1;
    }
    override exec(_prepRes: number, context: ExecContext): number {
      note(`exec ${context.attempt}`, context);
      throw new Error('busy');
    }
    override execFallback(_prepRes: number, _error: unknown, context: ExecContext): number {
      note('execFallback', context);
      return 2;
    }
    override post(_shared: object, _prepRes: number, _execRes: number, context: NodeContext): void {
      note('post', context);
    }
  }
  const stop = new AbortController();
  const step = new Step({ maxRetries: 2, name: 'step' });
  const events: TraceEvent[] = [];
  const flow = new Flow({ start: step, name: 'main' }).connect(step, null);
  await flow.run({}, { signal: stop.signal, onEvent: (event) => void events.push(event) });
  assert.deepEqual(seen, ['prep true', 'exec 1 true', 'exec 2 true', 'execFallback true', 'post true']);
  const emitted = events.flatMap((event) => (event.type === 'emit' ? [event] : []));
  assert.deepEqual(
    emitted.map(({ node, path, visit, data }) => ({ node, path, visit, data })),
    ['prep', 'exec 1', 'exec 2', 'execFallback', 'post'].map((data) => ({
      node: 'step',
      path: 'main/step',
      visit: 1,
      data,
    })),
  );
});

test('items of a batch emit with their number', async () => {
  class Items extends BatchNode<object, string, string> {
    override prep(): string[] {
      return ['a', 'b'];
    }
    override exec(item: string, { emit }: ExecContext): string {
      emit(item);
      return item;
    }
  }
  const events: unknown[] = [];
  const onEvent = (event: TraceEvent): void => void (event.type === 'emit' && events.push([event.item, event.data]));
  await new Items().run({}, { onEvent });
  assert.deepEqual(events, [
    [0, 'a'],
    [1, 'b'],
  ]);
});

test('emit does nothing in a run that nothing observes, and after its visit', async () => {
  let late: ((data: unknown) => void) | undefined;
  class Step extends Node {
    override exec(_prepRes: unknown, { emit, signal }: ExecContext): void {
      emit('x');
      assert.equal(signal.aborted, false);
      late = emit;
    }
  }
  await new Step().run({});
  const types: string[] = [];
  await new Step().run({}, { onEvent: ({ type }) => void types.push(type) });
  late?.('too late');
  assert.deepEqual(types, ['node-start', 'emit', 'node-end']);
});

test('a model request ends with the signal of its run, without being given it', async (t) => {
  const service = await silentService(t);
  class Ask extends Node {
    override exec(): Promise<string> {
      return service.llm.ask('hello');
    }
  }
  const stop = new AbortController();
  const run = new Flow({ start: new Ask() }).run({}, { signal: stop.signal });
  await service.received(1);
  const reason = new Error('stop');
  stop.abort(reason);
  await assert.rejects(run, (error) => error === reason);
  await service.idle();
});

test('a flow that a hook runs ends with the run of the hook', async (t) => {
  const service = await silentService(t);
  class Ask extends Node {
    override exec(): Promise<string> {
      return service.llm.ask('hello');
    }
  }
  class Outer extends Node {
    override exec(): Promise<unknown> {
      return new Flow({ start: new Ask() }).run({}, { onEvent() {} });
    }
  }
  const stop = new AbortController();
  const run = new Outer().run({}, { signal: stop.signal });
  await service.received(1);
  stop.abort(new Error('stop'));
  await assert.rejects(run, /stop/);
  await service.idle();
});

test('an attempt over its timeout ends its model request before the next begins', async (t) => {
  await withGrowingLimit(300, async (limitMs) => {
    const service = await silentService(t);
    class Ask extends Node {
      override exec(): Promise<string> {
        return service.llm.ask('hello');
      }
    }
    const timeout = limitMs / 1_000;
    await assert.rejects(
      new Ask({ timeout, maxRetries: 2 }).run({}),
      new RegExp(`longer than its timeout of ${timeout} s`),
    );
    await service.idle();
    assert.equal(service.requests(), 2);
  });
});

test('a failed item of a parallel batch ends the model requests of the others', async (t) => {
  const service = await silentService(t);
  const { baseUrl } = await chatServer(t, json(400, { error: { message: 'no' } }), reply('unused'));
  const failing = new LLMClient({ baseUrl, model: 'm' });
  class Ask extends ParallelBatchNode<object, string, string> {
    override prep(): string[] {
      return ['waits', 'fails'];
    }
    override async exec(item: string): Promise<string> {
      if (item === 'waits') return service.llm.ask('hello');
      await service.received(1);
      return failing.ask('hello');
    }
  }
  await assert.rejects(new Ask().run({}), /HTTP 400/);
  await service.idle();
});

test('a run that has ended no longer listens to its signal', async () => {
  const { signal } = new AbortController();
  class Failing extends Node {
    override async exec(): Promise<never> {
      throw new Error('broken');
    }
  }
  await new Node().run({}, { signal });
  assert.equal(getEventListeners(signal, 'abort').length, 0);
  await assert.rejects(new Failing().run({}, { signal }), /broken/);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});
