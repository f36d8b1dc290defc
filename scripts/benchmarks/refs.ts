/** `refs`: operations on repositories with few and with many refs, compared with nginx and git. */

import { cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import type { Benchmark } from './benchmark.js'
import { besideGit, type Servers } from './beside-git.js'
import { type Comparison, compare, sideOf } from './compare.js'
import { OWNER } from './gatehouse.js'
import { PEER_SETTINGS } from './pushes.js'
import { addChanges, addCommit } from './repositories.js'
import { runInGroup, USER_PATH } from './server.js'
import type { Table } from './table.js'
import { feedGitAsUser, runGitAsUser } from './user-git.js'

export const REFS_BENCHMARK: Benchmark = {
  name: 'refs',
  about: 'lists of refs, clones and pushes with 1 to 500,000 refs, compared with nginx and git',
  sizes: [1, 230, 5_000, 50_000, 500_000],
  run: (stage, sizes) =>
    besideGit(stage, async function* (setup) {
      for (const size of sizes) yield await measureSize(setup, size)
    }),
}

/** Number of operations of a round, below and from this number of refs on. */
const [COUNT, COUNT_OF_MANY, MANY] = [8, 2, 50_000]

/** A repository that both servers serve, and the name of a copy of it for each side's pushes. */
interface Repository {
  readonly name: string
  readonly path: string
  readonly count: number
  /** Returns a branch; the number wraps around. */
  readonly branch: (number: number) => string
}

/** Operation of a client, on each side. */
interface Operation {
  readonly label: string
  /** Change of the repository before each operation, which is not measured. */
  readonly change?: (number: number) => Promise<void>
  readonly own: (number: number) => Promise<unknown>
  readonly peer: (number: number) => Promise<unknown>
}

async function measureSize(setup: Servers, size: number): Promise<Table> {
  const repository = await makeRepository(setup, size)
  const rows: Array<readonly [string, Comparison]> = []
  const operations = [...(await reads(setup, repository)), await pushOf(setup, repository)]
  for (const operation of operations) {
    // Maintenance, which is off, packs the refs now and then.
    await runGitAsUser(['pack-refs', '--all'], { cwd: repository.path, signal: setup.signal })
    rows.push([operation.label, await measure(setup, repository, operation)])
  }
  return {
    title: `${size} refs`,
    peers: ['nginx + git'],
    unit: 'operations',
    rows,
    notes: ['refs are packed, and each push leaves one loose ref; /branches beside for-each-ref'],
  }
}

async function measure(
  { gatehouse, git }: Servers,
  { count }: Repository,
  { change, own, peer }: Operation,
): Promise<Comparison> {
  let number = 0
  const workOf = (act: Operation['own']) => async () => {
    let seconds = 0
    for (let done = 0; done < count; done += 1) {
      number += 1
      await change?.(number)
      const startedAt = performance.now()
      await act(number)
      seconds += (performance.now() - startedAt) / 1_000
    }
    return { operations: count, seconds }
  }
  return compare(sideOf(gatehouse, workOf(own)), sideOf(git, workOf(peer)))
}

async function reads(setup: Servers, repository: Repository): Promise<readonly Operation[]> {
  const { gatehouse, git, folder, signal } = setup
  const { name, path, branch } = repository
  const commit = async (number: number) => {
    const when = Math.floor(Date.now() / 1_000)
    const files = [{ name: 'news.txt', text: `${process.hrtime.bigint()}` }]
    // Maintenance, which is off, combines the packs of earlier pushes.
    await runGitAsUser(['repack', '-d', '--quiet', '--geometric=2'], { cwd: path, signal })
    await addChanges(path, [{ branch: branch(number), when, files }], signal)
  }
  const upkeep = async () => {
    await runGitAsUser(['pack-refs', '--all'], { cwd: path, signal })
  }
  const client = async (args: readonly string[]) => {
    const cwd = await mkdtemp(join(folder, 'operation-'))
    // Discards the output, which may be long.
    await feedGitAsUser(args, { cwd, signal, input: [] })
    await rm(cwd, { recursive: true })
  }
  const both = (args: (url: string, number: number) => readonly string[]) => ({
    own: (number: number) => client(args(`${gatehouse.url}/${OWNER}/${name}.git`, number)),
    peer: (number: number) => client(args(`${git.url}/${name}.git`, number)),
  })
  const branches = {
    own: async () => {
      const url = `${gatehouse.url}/api/v1/repos/${OWNER}/${name}/branches?limit=30`
      const response = await fetch(url)
      if (response.status !== 200) throw new Error(`${url}: ${await response.text()}`)
      await response.arrayBuffer()
    },
    peer: () =>
      runInGroup(git.cpu, {
        program: ['git', '-C', path, 'for-each-ref', 'refs/heads'],
        environment: { PATH: USER_PATH },
        logFile: '/dev/null',
        signal,
      }),
  }
  const one = both((url, at) => ['ls-remote', url, `refs/heads/${branch(at)}`])
  const all = both((url) => ['ls-remote', url])
  const v0 = both((url) => ['-c', 'protocol.version=0', 'ls-remote', url])
  const cloneOf = (url: string, at: number) => {
    const options = ['--quiet', '--bare', '--depth=1', `--branch=${branch(at)}`]
    return ['clone', ...options, url, 'clone']
  }
  const clone = both((url) => cloneOf(url, 0))
  const newClone = both(cloneOf)
  return [
    { label: 'ls-refs of one branch', ...one },
    { label: '  first after a push', change: commit, ...one },
    { label: '  first after upkeep', change: upkeep, ...one },
    { label: 'whole ls-refs', ...all },
    { label: '  first after a push', change: commit, ...all },
    { label: 'v0 ls-remote', ...v0 },
    { label: '  first after a push', change: commit, ...v0 },
    { label: 'clone --depth 1', ...clone },
    { label: '  first after a push', change: commit, ...newClone },
    { label: 'API /branches', ...branches },
    { label: '  first after a push', change: commit, ...branches },
  ]
}

/**
 * Returns the push of one commit, to a copy of the repository on each side. No client has cloned
 * the copies, so no answers for the next clients are made after a push.
 */
async function pushOf(
  { gatehouse, git, folder, signal }: Servers,
  { name, path, branch }: Repository,
): Promise<Operation> {
  const cwd = join(folder, `client-of-${name}.git`)
  const options = ['--quiet', '--bare', '--single-branch', '--no-tags']
  await runGitAsUser(['clone', ...options, `file://${path}`, cwd], { cwd: folder, signal })
  const copy = `pushes-${name}`
  const own = await gatehouse.makeRepository(copy)
  const peer = join(folder, `${copy}.git`)
  for (const target of [own.path, peer]) await cp(path, target, { recursive: true })
  for (const [key, value] of PEER_SETTINGS) {
    await runGitAsUser(['config', key, value], { cwd: peer, signal })
  }
  await git.addRepository(copy, peer)
  const push = async (url: string, number: number) => {
    await runGitAsUser(['push', '--quiet', '--force', url, `main:${branch(number)}`], {
      cwd,
      signal,
    })
  }
  return {
    label: 'push of one commit',
    change: () => addCommit(cwd, signal),
    own: (number) => push(gatehouse.pushAddress(copy), number),
    peer: (number) => push(`${git.url}/${copy}.git`, number),
  }
}

/** Maximum number of commits of the branches; with more, several branches have the same one. */
const COMMITS_MAX = 20_000

/** Creates a repository with the branch main, and packed branches. */
async function makeRepository({ gatehouse, git, folder, signal }: Servers, size: number) {
  const name = `refs-${size}`
  const { path } = await gatehouse.makeRepository(name)
  await addCommit(path, signal, { isFirst: true })
  const commits = Math.min(size, COMMITS_MAX)
  function* history() {
    for (let mark = 1; mark <= commits; mark += 1) {
      const when = 1_700_000_000 + mark
      yield `commit refs/heads/main\nmark :${mark}\ncommitter Ada <ada@example.com> ${when} +0000\n`
      yield `data 0\n${mark === 1 ? 'from refs/heads/main^0\n' : ''}\n`
    }
  }
  const marks = join(folder, `marks-of-${name}`)
  const words = ['fast-import', '--quiet', `--export-marks=${marks}`]
  await feedGitAsUser(words, { cwd: path, signal, input: history() })
  const oids = (await readFile(marks, 'utf8'))
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(-40))
  const nameOf = (at: number) => `work-${String(at).padStart(6, '0')}`
  // Git itself would first write a file for each branch.
  const lines = Array.from({ length: size - 1 }, (_, at) => {
    return `${oids[at % commits]} refs/heads/${nameOf(at + 1)}\n`
  })
  const header = '# pack-refs with: peeled fully-peeled sorted \n'
  await writeFile(join(path, 'packed-refs'), header + lines.join(''))
  await git.addRepository(name, path)
  const branch = (number: number) => (size === 1 ? 'main' : nameOf(1 + (number % (size - 1))))
  return { name, path, branch, count: size < MANY ? COUNT : COUNT_OF_MANY }
}
