import assert from 'node:assert/strict';
import { test } from 'node:test';
import { headersOf, roleOf, wantedRoles } from '../../../../src/retrieval/search/roles.ts';

const ROLES = {
  source:
    'src/retry.ts lib/contest.py pkg/latest/attest.go src/Testament.java app/models.rb spectrum/specular.c testing.ts',
  test: 'src/retry.test.ts tests/a.py a_test.go src/test/java/A.java FooTests.swift spec/a_spec.rb x/conftest.py test_a.c a.bats',
  documentation: 'README.md docs/guide.rst LICENSE a/CHANGELOG docs/conf.py notes.txt',
  example: 'examples/a.go sample/b.ts demos/c.py server.conf.sample .env.example',
  generated: 'a.min.js b.map __snapshots__/a.snap x.flowtest.json api.pb.go api_pb2.py dist/a.js',
  vendored: 'vendor/a.go third_party/b.c extern/c.cc 3rdparty/d.c node_modules/x/index.js',
  configuration: 'tsconfig.json .github/workflows/ci.yml a.toml Makefile vite.config.ts setup.py',
  lock: 'package-lock.json yarn.lock go.sum a/Cargo.lock',
  data: 'a.csv b.svg page.html expected/join.out slurm.log',
  legacy: 'src/compat/a.py legacy/b.ts',
  exports: 'pkg/__init__.py src/index.ts types.d.ts',
};

test('the role of a file follows from its path', () => {
  for (const [role, paths] of Object.entries(ROLES)) {
    for (const path of paths.split(' ')) assert.equal(roleOf(path), role, path);
  }
});

test('a header beside a source file of the same name is one, wherever they are', () => {
  const paths = ['src/ring.cpp', 'include/ring.hpp', 'include/only.hpp', 'src/ring.test.h', 'ring.py'];
  assert.deepEqual([...headersOf(paths)], ['include/ring.hpp']);
});

test('a query asks for files other than sources by its words, by a file name or by a filter', () => {
  const wanted = (query: string, hasFilter = false): string => [...wantedRoles(query, hasFilter)].sort().join();
  assert.equal(wanted('unit tests for the retry delay'), 'test');
  assert.equal(wanted('contested attestation of examples'), 'example');
  assert.equal(wanted('what README.md says'), 'documentation');
  assert.equal(wanted('retry delay'), '');
  assert.ok(wanted('retry delay', true).includes('test'));
});
