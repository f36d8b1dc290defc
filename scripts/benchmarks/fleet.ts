/** `fleet`: what CI runners do besides clones at a tip, compared with nginx and git. */

import { join } from 'node:path'
import type { Benchmark } from './benchmark.js'
import { besideGit, type Servers } from './beside-git.js'
import { INTO, measureOperation, type Operation } from './client-operations.js'
import type { Comparison } from './compare.js'
import { measureOtherClients } from './other-clients.js'
import { measurePushes } from './pushes.js'
import { addBranches, addCommit, fillRepository, SMALL_SHAPE } from './repositories.js'
import type { Table } from './table.js'
import { runGitAsUser } from './user-git.js'

export const FLEET_BENCHMARK: Benchmark = {
  name: 'fleet',
  about: 'operations of CI runners by real git clients, compared with nginx and git-http-backend',
  run: (stage) =>
    besideGit(stage, async function* (setup) {
      for (const repository of REPOSITORIES) yield await measureOperations(setup, repository)
      yield await measureOtherClients(setup)
      yield await measurePushes(setup)
    }),
}

/** Small repository, and two with the sizes and the numbers of refs of well-known public ones. */
const REPOSITORIES = [
  { name: 'small', title: 'Text, 10 MB, 1 branch', shape: SMALL_SHAPE, branches: 1 },
  {
    name: 'public',
    title: 'Text, 86 MB, 214 branches',
    shape: { files: 700, fileBytes: 12_000, commits: 2_090, filesChanged: 10 },
    branches: 214,
  },
  {
    name: 'large',
    title: 'Text, 146 MB, 398 branches',
    shape: { files: 1_000, fileBytes: 12_000, commits: 3_580, filesChanged: 10 },
    branches: 398,
  },
] as const

/** Number of commits that a workspace is behind the branch. */
const COMMITS_BEHIND = 5

const V0 = ['-c', 'protocol.version=0'] as const
const CLONE = ['clone', '--quiet', '--no-checkout'] as const

async function measureOperations(
  setup: Servers,
  { name, title, shape, branches }: (typeof REPOSITORIES)[number],
): Promise<Table> {
  const { gatehouse, git, folder, signal } = setup
  const { path } = await gatehouse.makeRepository(name)
  await fillRepository(path, shape, signal)
  if (branches > 1) await addBranches(path, branches - 1, signal)
  await git.addRepository(name, path)
  const options = { cwd: folder, signal }
  const [full, shallow] = [join(folder, `${name}-kept`), join(folder, `${name}-kept-shallow`)]
  await runGitAsUser(['clone', '--quiet', '--bare', path, full], options)
  await runGitAsUser(
    ['clone', '--quiet', '--bare', '--depth=1', `file://${path}`, shallow],
    options,
  )
  for (let commits = 0; commits < COMMITS_BEHIND; commits += 1) await addCommit(path, signal)
  const behind = (await runGitAsUser(['rev-parse', 'main~100'], { cwd: path, signal })).trim()
  const toMain = '+refs/heads/main:refs/heads/main'
  const operations: readonly Operation[] = [
    {
      label: 'clone, depth 1',
      count: 10,
      command: (url) => ['git', ...CLONE, '--depth=1', url, INTO],
    },
    {
      label: 'a commit by id behind the tip, depth 1',
      count: 10,
      workspace: 'empty',
      command: (url) => ['git', 'fetch', '--quiet', '--depth=1', url, behind],
    },
    {
      label: 'fetch into a kept workspace',
      count: 10,
      workspace: full,
      command: (url) => ['git', 'fetch', '--quiet', url, toMain],
    },
    {
      label: 'the same by eight clients at once',
      count: 40,
      clients: 8,
      workspace: full,
      command: (url) => ['git', 'fetch', '--quiet', url, toMain],
    },
    {
      label: 'fetch --depth=20 into a kept shallow workspace',
      count: 10,
      workspace: shallow,
      command: (url) => ['git', 'fetch', '--quiet', '--depth=20', url, toMain],
    },
    {
      label: 'fetch --deepen=10',
      count: 10,
      workspace: shallow,
      command: (url) => ['git', 'fetch', '--quiet', '--deepen=10', url, toMain],
    },
    { label: 'v0: ls-remote', count: 20, command: (url) => ['git', ...V0, 'ls-remote', url] },
    {
      label: 'v0: clone, depth 1',
      count: 10,
      command: (url) => ['git', ...V0, ...CLONE, '--depth=1', url, INTO],
    },
    { label: 'v0: clone', count: 4, command: (url) => ['git', ...V0, ...CLONE, url, INTO] },
    {
      label: 'clone of blob:none with checkout',
      count: 3,
      command: (url) => ['git', 'clone', '--quiet', '--filter=blob:none', url, INTO],
    },
  ]
  const rows: Array<readonly [string, Comparison]> = []
  for (const operation of operations) rows.push(await measureOperation(setup, name, operation))
  return {
    title: `${title}: operations of git`,
    peers: ['nginx + git'],
    unit: 'operations',
    rows,
    notes: [
      'one client at a time, except where the row names more',
      `a kept workspace is ${COMMITS_BEHIND} commits behind; each operation starts equally`,
    ],
  }
}
