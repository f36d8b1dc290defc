/** `fleet`: what CI runners do besides clones at a tip, compared with nginx and git. */

import { cp, mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { Benchmark, BenchmarkContext } from './benchmark.js'
import { besideGit, type Servers } from './beside-git.js'
import { type Comparison, compare, type RoundResult, sideOf } from './compare.js'
import { OWNER } from './gatehouse.js'
import { measurePushes } from './pushes.js'
import { addCommit, fillRepository, SMALL_SHAPE } from './repositories.js'
import type { Table } from './table.js'
import { runGitAsUser } from './user-git.js'

export const FLEET_BENCHMARK: Benchmark = {
  name: 'fleet',
  about: 'operations of CI runners by real git clients, compared with nginx and git-http-backend',
  run: (stage) =>
    besideGit(stage, async function* (setup) {
      yield await measureOperations(setup)
      yield await measurePushes(setup)
    }),
}

/** Operation of a client in an empty folder. */
interface Operation {
  readonly label: string
  /** Number of operations of a round. */
  readonly count: number
  /** Workspace that is copied into the folder; its time is not measured. */
  readonly workspace?: string
  /** Arguments of git. */
  readonly args: (url: string) => readonly string[]
}

/** Number of commits that a workspace is behind the branch. */
const COMMITS_BEHIND = 5

const V0 = ['-c', 'protocol.version=0'] as const
const CLONE = ['clone', '--quiet', '--no-checkout'] as const
const INTO = 'clone'

async function measureOperations(setup: Servers): Promise<Table> {
  const { gatehouse, git, folder, signal } = setup
  const name = 'text'
  const { path } = await gatehouse.makeRepository(name)
  await fillRepository(path, SMALL_SHAPE, signal)
  await git.addRepository(name, path)
  const options = { cwd: folder, signal }
  const [full, shallow] = [join(folder, 'kept'), join(folder, 'kept-shallow')]
  await runGitAsUser(['clone', '--quiet', '--bare', path, full], options)
  await runGitAsUser(
    ['clone', '--quiet', '--bare', '--depth=1', `file://${path}`, shallow],
    options,
  )
  for (let commits = 0; commits < COMMITS_BEHIND; commits += 1) await addCommit(path, signal)
  const behind = (await runGitAsUser(['rev-parse', 'main~100'], { cwd: path, signal })).trim()
  const toMain = '+refs/heads/main:refs/heads/main'
  const operations: readonly Operation[] = [
    { label: 'clone, depth 1', count: 10, args: (url) => [...CLONE, '--depth=1', url, INTO] },
    {
      label: 'a commit by id behind the tip, depth 1',
      count: 10,
      workspace: 'empty',
      args: (url) => ['fetch', '--quiet', '--depth=1', url, behind],
    },
    {
      label: 'fetch into a kept workspace',
      count: 10,
      workspace: full,
      args: (url) => ['fetch', '--quiet', url, toMain],
    },
    {
      label: 'fetch --depth=20 into a kept shallow workspace',
      count: 10,
      workspace: shallow,
      args: (url) => ['fetch', '--quiet', '--depth=20', url, toMain],
    },
    {
      label: 'fetch --deepen=10',
      count: 10,
      workspace: shallow,
      args: (url) => ['fetch', '--quiet', '--deepen=10', url, toMain],
    },
    { label: 'v0: ls-remote', count: 20, args: (url) => [...V0, 'ls-remote', url] },
    {
      label: 'v0: clone, depth 1',
      count: 10,
      args: (url) => [...V0, ...CLONE, '--depth=1', url, INTO],
    },
    { label: 'v0: clone', count: 4, args: (url) => [...V0, ...CLONE, url, INTO] },
    {
      label: 'clone of blob:none with checkout',
      count: 3,
      args: (url) => ['clone', '--quiet', '--filter=blob:none', url, INTO],
    },
  ]
  const rows: Array<readonly [string, Comparison]> = []
  for (const operation of operations) rows.push(await measure(setup, name, operation))
  return {
    title: 'Text, 10 MB: operations of git, one after the other',
    peers: ['nginx + git'],
    unit: 'operations',
    rows,
    notes: [`a kept workspace is ${COMMITS_BEHIND} commits behind; each operation starts equally`],
  }
}

async function measure(
  { gatehouse, git, folder, signal }: Servers,
  name: string,
  operation: Operation,
): Promise<readonly [string, Comparison]> {
  const workOf = (url: string) => () => repeat(operation, { url, folder, signal })
  const comparison = await compare(
    sideOf(gatehouse, workOf(`${gatehouse.url}/${OWNER}/${name}.git`)),
    sideOf(git, workOf(`${git.url}/${name}.git`)),
  )
  return [operation.label, comparison]
}

interface RepeatOptions extends BenchmarkContext {
  readonly url: string
}

async function repeat(
  { count, workspace, args }: Operation,
  { url, folder, signal }: RepeatOptions,
): Promise<RoundResult> {
  let seconds = 0
  for (let done = 0; done < count; done += 1) {
    const cwd = await mkdtemp(join(folder, 'operation-'))
    if (workspace === 'empty') await runGitAsUser(['init', '--quiet'], { cwd, signal })
    else if (workspace !== undefined) await cp(workspace, cwd, { recursive: true })
    const startedAt = performance.now()
    await runGitAsUser(args(url), { cwd, signal })
    seconds += (performance.now() - startedAt) / 1_000
    await rm(cwd, { recursive: true })
  }
  return { operations: count, seconds }
}
