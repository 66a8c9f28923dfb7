import { Flow, Node, type RunOptions } from '../../src/agents/index.ts';
import { peerPackage } from '../support/peerPackage.ts';

/** One runtime doing both workloads. Each returns the number of visits that it made, which the bench checks. */
export interface Subject {
  loop(visits: number): Promise<number>;
  chain(runs: number): Promise<number>;
}

/** How many classes of nodes a flow has: one node of each, in a ring for the loop and in a row for the chain. */
export const CLASSES = 10;

interface Counter {
  count: number;
  limit: number;
}

/** The floor for async hooks: three awaited functions per visit and nothing else. */
function handWritten(): Subject {
  const prep = async (shared: Counter): Promise<number> => shared.count;
  const exec = async (count: number): Promise<number> => count + 1;
  const post = async (shared: Counter, count: number): Promise<boolean> => {
    shared.count = count;
    return count < shared.limit;
  };
  const visit = async (shared: Counter): Promise<boolean> => post(shared, await exec(await prep(shared)));
  return {
    async loop(visits) {
      const shared = { count: 0, limit: visits };
      while (await visit(shared));
      return shared.count;
    },
    async chain(runs) {
      let visits = 0;
      for (let run = 0; run < runs; run += 1) {
        const shared = { count: 0, limit: CLASSES };
        for (let step = 0; step < CLASSES; step += 1) await visit(shared);
        visits += shared.count;
      }
      return visits;
    },
  };
}

type StepClass = new () => Node<Counter, number, number, 'again' | 'done'>;

// Each call makes a class of its own: a flow has many classes of nodes, and call sites that meet only one are much faster than any program is.
const syncStep = (): StepClass =>
  class extends Node<Counter, number, number, 'again' | 'done'> {
    override prep(shared: Counter): number {
      return shared.count;
    }
    override exec(count: number): number {
      return count + 1;
    }
    override post(shared: Counter, _before: number, count: number): 'again' | 'done' {
      shared.count = count;
      return count < shared.limit ? 'again' : 'done';
    }
  };

const asyncStep = (): StepClass =>
  class extends Node<Counter, number, number, 'again' | 'done'> {
    override async prep(shared: Counter): Promise<number> {
      return shared.count;
    }
    override async exec(count: number): Promise<number> {
      return count + 1;
    }
    override async post(shared: Counter, _before: number, count: number): Promise<'again' | 'done'> {
      shared.count = count;
      return count < shared.limit ? 'again' : 'done';
    }
  };

function ours(makeClass: () => StepClass, options: RunOptions): Subject {
  const classes = Array.from({ length: CLASSES }, makeClass);
  const flowOf = (isLoop: boolean): Flow<Counter> => {
    const steps = classes.map((Step) => new Step());
    const flow = new Flow<Counter>();
    flow.start = steps[0];
    for (const [index, step] of steps.entries()) {
      const next = steps[index + 1] ?? (isLoop ? steps[0] : undefined) ?? null;
      flow.connect(step, next, 'again').connect(step, null, 'done');
    }
    return flow;
  };
  return {
    async loop(visits) {
      const shared = { count: 0, limit: visits };
      await flowOf(true).run(shared, options);
      return shared.count;
    },
    async chain(runs) {
      const flow = flowOf(false);
      let visits = 0;
      for (let run = 0; run < runs; run += 1) {
        const shared = { count: 0, limit: CLASSES };
        await flow.run(shared, options);
        visits += shared.count;
      }
      return visits;
    },
  };
}

/** Keeps the last 4,096 events, as a view of a running flow does. */
function ring(): RunOptions {
  const events: unknown[] = Array.from({ length: 4096 });
  let next = 0;
  return {
    onEvent(event) {
      events[next++ & 4095] = event;
    },
  };
}

// The part of each peer's interface that the workloads use.
interface PocketNode {
  on(action: string, node: PocketNode): PocketNode;
}
interface PocketFlow {
  Node: new () => PocketNode;
  Flow: new (start: PocketNode) => { run(shared: Counter): Promise<unknown> };
}
interface LangGraph {
  Annotation: { Root(fields: object): unknown } & (() => unknown);
  StateGraph: new (state: unknown) => LangGraphBuilder;
  START: string;
  END: string;
}
interface LangGraphBuilder {
  addNode(name: string, run: (state: Counter) => Promise<Partial<Counter>>): LangGraphBuilder;
  addEdge(from: string, to: string): LangGraphBuilder;
  addConditionalEdges(from: string, choose: (state: Counter) => string): LangGraphBuilder;
  compile(): { invoke(state: Counter, options: { recursionLimit: number }): Promise<Counter> };
}

async function pocketflow(): Promise<Subject> {
  const { Node: Base, Flow: PeerFlow } = (await peerPackage('pocketflow')) as PocketFlow;
  const makeClass = (): (new () => PocketNode) =>
    class extends Base {
      async prep(shared: Counter): Promise<number> {
        return shared.count;
      }
      async exec(count: number): Promise<number> {
        return count + 1;
      }
      async post(shared: Counter, _before: number, count: number): Promise<'again' | 'done'> {
        shared.count = count;
        return count < shared.limit ? 'again' : 'done';
      }
    };
  const classes = Array.from({ length: CLASSES }, makeClass);
  const end = new Base();
  const flowOf = (isLoop: boolean): { run(shared: Counter): Promise<unknown> } => {
    const steps = classes.map((Step) => new Step());
    for (const [index, step] of steps.entries()) {
      step.on('again', steps[index + 1] ?? (isLoop ? steps[0] : undefined) ?? end);
      step.on('done', end);
    }
    return new PeerFlow(steps[0] ?? end);
  };
  return {
    async loop(visits) {
      const shared = { count: 0, limit: visits };
      await flowOf(true).run(shared);
      return shared.count;
    },
    async chain(runs) {
      const flow = flowOf(false);
      let visits = 0;
      for (let run = 0; run < runs; run += 1) {
        const shared = { count: 0, limit: CLASSES };
        await flow.run(shared);
        visits += shared.count;
      }
      return visits;
    },
  };
}

async function langgraph(): Promise<Subject> {
  const { Annotation, StateGraph, START, END } = (await peerPackage('@langchain/langgraph')) as LangGraph;
  const State = Annotation.Root({ count: Annotation(), limit: Annotation() });
  const step = async (state: Counter): Promise<Partial<Counter>> => ({ count: state.count + 1 });
  const names = Array.from({ length: CLASSES }, (_, index) => `step${index}`);
  return {
    async loop(visits) {
      const graph = new StateGraph(State).addNode('step', step).addEdge(START, 'step');
      const choose = (state: Counter): string => (state.count < state.limit ? 'step' : END);
      const app = graph.addConditionalEdges('step', choose).compile();
      return (await app.invoke({ count: 0, limit: visits }, { recursionLimit: visits + 2 })).count;
    },
    async chain(runs) {
      const graph = new StateGraph(State);
      for (const name of names) graph.addNode(name, step);
      for (const [index, name] of [START, ...names].entries()) graph.addEdge(name, names[index] ?? END);
      const app = graph.compile();
      let visits = 0;
      for (let run = 0; run < runs; run += 1) {
        visits += (await app.invoke({ count: 0, limit: CLASSES }, { recursionLimit: 50 })).count;
      }
      return visits;
    },
  };
}

export const SUBJECTS: Readonly<Record<string, () => Subject | Promise<Subject>>> = {
  'hand-written, 3 awaits': handWritten,
  'farwharf, sync hooks': () => ours(syncStep, {}),
  'farwharf, async hooks': () => ours(asyncStep, {}),
  'farwharf, sync hooks, traced': () => ours(syncStep, ring()),
  'farwharf, async hooks, traced': () => ours(asyncStep, ring()),
  pocketflow,
  langgraph,
};
