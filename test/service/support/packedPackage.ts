import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { copyTracked, trackedFiles } from '../../../scripts/trackedFiles.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

/** Runs npm and returns what it printed. */
export function npm(args: readonly string[], cwd: string): string {
  return execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: 'pipe', shell: process.platform === 'win32' });
}

/** A copy of this project as a fresh clone is: without packages and unbuilt. */
export function freshClone(folder: string): string {
  const clone = join(folder, 'clone');
  copyTracked(trackedFiles(), clone);
  return clone;
}

/** Such a copy with the packages of this project, as after `npm ci`. */
export function unbuiltClone(folder: string): string {
  const clone = freshClone(folder);
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'), 'junction');
  return clone;
}

/** Packs the package in `source` as `npm publish` does, its scripts included; returns the tarball's path. */
export function pack(source: string, destination: string, ...flags: string[]): string {
  mkdirSync(destination, { recursive: true });
  npm(['pack', '--pack-destination', destination, ...flags], source);
  const [tarball] = readdirSync(destination);
  if (tarball === undefined) throw new Error(`npm pack wrote nothing into ${destination}.`);
  return join(destination, tarball);
}

/** Packs an installed package of this project, so that npm can install it without the network. */
export function packDependency(name: string, folder: string): string {
  return pack(join(ROOT, 'node_modules', name), join(folder, name), '--ignore-scripts');
}

/**
 * A project that has the package of `tarball` installed by npm, without the network: its one dependency comes from the
 * packages of this project, and so do the types of Node.js, which a TypeScript project has.
 */
export function projectWith(tarball: string, folder: string): string {
  const project = join(folder, 'project');
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, 'package.json'), '{ "type": "module", "private": true }');
  const dependencies = ['zod', '@types/node', 'undici-types'].map((name) => packDependency(name, folder));
  npm(['install', '--offline', '--no-audit', '--no-fund', tarball, ...dependencies], project);
  return project;
}

/** All files below a folder, with `/`. */
export function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).replaceAll('\\', '/'))
    .sort();
}
