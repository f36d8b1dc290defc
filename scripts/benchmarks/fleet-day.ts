/** `day`: a simulated day of a fleet of CI runners with real git clients, without pauses. */

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Benchmark } from './benchmark.js'
import { besideGit, type Servers } from './beside-git.js'
import { JOB_KINDS, runJob, type Target } from './ci-jobs.js'
import {
  countOfGatehouse,
  countOfPeer,
  type Meter,
  packCacheOutcomes,
  startMeter,
} from './day-meter.js'
import {
  BRANCHES,
  DAY_SHAPE,
  type PlannedJob,
  type PlannedPush,
  PUSHES_PER_HOUR,
  planPushes,
  WORKSPACES,
} from './day-plan.js'
import { operationsTable, totalsTable } from './day-tables.js'
import { OWNER } from './gatehouse.js'
import { addChanges, fillRepository } from './repositories.js'
import type { Grid } from './table.js'
import { runGitAsUser } from './user-git.js'

/** Number of concurrent jobs, and of requests that nginx and git serve concurrently. */
const PARALLEL = 8

export const DAY_BENCHMARK: Benchmark = {
  name: 'day',
  about: 'simulated hours of pushes and jobs of CI runners, compared with nginx and git',
  sizes: [1],
  run: (stage, sizes) =>
    besideGit(
      stage,
      async function* (servers) {
        for (const hours of sizes) yield* simulate(servers, hours)
      },
      { environment: { GATEHOUSE_MAINTENANCE_ENABLED: 'true' }, backends: PARALLEL },
    ),
}

/** Server with the workspaces that its runners keep. */
interface Side {
  readonly url: string
  /** URL with the credentials for pushes. */
  readonly pushUrl: string
  readonly workspaces: Readonly<Record<'complete' | 'shallow', string[]>>
}

interface MeteredSide extends Side {
  readonly meter: Meter
}

const BETWEEN = 'between'
const PUSH = 'push'

/** Duration after which the maintenance that follows a push has usually ended. */
const SETTLED_AFTER_MS = 20_000

async function* simulate(servers: Servers, hours: number): AsyncGenerator<Grid> {
  const { signal } = servers
  const folder = join(servers.folder, `day-${hours}`)
  await mkdir(folder)
  const day: Day = { folder, source: join(folder, 'source.git'), signal, targets: [] }
  const pushes = [...planPushes(hours + 1)]
  const sides = await addSides(servers, day)
  await createSource(day)
  await prepareHour(day, sides, pushes.slice(0, PUSHES_PER_HOUR))
  for (const { pushUrl } of sides) await runGitAsUser(pushOf(pushUrl, BRANCHES), gitIn(day))
  await sleep(SETTLED_AFTER_MS, undefined, { signal })
  const before = await packCacheOutcomes(servers)
  const [own, peer] = [
    {
      ...sides[0],
      meter: await startMeter(servers.gatehouse.cpu, () => countOfGatehouse(servers)),
    },
    { ...sides[1], meter: await startMeter(servers.git.cpu, () => countOfPeer(servers)) },
  ]
  const measured = pushes.slice(PUSHES_PER_HOUR)
  for (const [index, push] of measured.entries()) {
    const target = await commit(day, push)
    for (const side of index % 2 === 0 ? [own, peer] : [peer, own]) {
      await takeTurn(day, side, { push, target })
    }
    day.targets.push(target)
    console.error(`Pushes with their jobs: ${index + 1} of ${measured.length}`)
  }
  await sleep(SETTLED_AFTER_MS, undefined, { signal })
  for (const { meter } of [own, peer]) await meter.add(BETWEEN)
  const after = await packCacheOutcomes(servers)
  const result = {
    hours,
    gatehouse: own.meter.tallies,
    peer: peer.meter.tallies,
    labels: [PUSH, ...JOB_KINDS.map(({ label }) => label)],
    between: BETWEEN,
    push: PUSH,
    outcomes: new Map([...after].map(([name, count]) => [name, count - (before.get(name) ?? 0)])),
  }
  yield operationsTable(result)
  yield totalsTable(result)
}

interface Day {
  readonly folder: string
  /** Bare repository of the developers, from which both servers get their pushes. */
  readonly source: string
  readonly signal: AbortSignal
  /** Commits of the pushes so far. */
  readonly targets: Target[]
}

function gitIn({ source, signal }: Day): { readonly cwd: string; readonly signal: AbortSignal } {
  return { cwd: source, signal }
}

function pushOf(url: string, branches: readonly string[]): readonly string[] {
  return ['push', '--quiet', url, ...branches.map((branch) => `refs/heads/${branch}`)]
}

/** Creates an empty repository on each server. */
async function addSides(servers: Servers, { folder, signal }: Day): Promise<readonly [Side, Side]> {
  const { gatehouse, git } = servers
  const name = folder.slice(servers.folder.length + 1)
  await gatehouse.makeRepository(name)
  const peerPath = join(folder, 'peer.git')
  await initBare(peerPath, { cwd: folder, signal })
  for (const [key, value] of PEER_CONFIGURATION) {
    await runGitAsUser(['config', key, value], { cwd: peerPath, signal })
  }
  await git.addRepository(name, peerPath)
  const peerUrl = `${git.url}/${name}.git`
  const noWorkspaces = () => ({ complete: [], shallow: [] })
  return [
    {
      url: `${gatehouse.url}/${OWNER}/${name}.git`,
      pushUrl: gatehouse.pushAddress(name),
      workspaces: noWorkspaces(),
    },
    { url: peerUrl, pushUrl: peerUrl, workspaces: noWorkspaces() },
  ]
}

/** Pushes without an account, flushed to the disk as in `conf/git.config`. */
const PEER_CONFIGURATION = [
  ['http.receivepack', 'true'],
  ['core.fsync', 'committed,pack-metadata,commit-graph'],
] as const

function initBare(
  path: string,
  options: { readonly cwd: string; readonly signal: AbortSignal },
): Promise<string> {
  return runGitAsUser(['init', '--quiet', '--bare', '--initial-branch=main', path], options)
}

/** Creates the repository of the developers with its branches. */
async function createSource(day: Day): Promise<void> {
  const { folder, source, signal } = day
  await initBare(source, { cwd: folder, signal })
  await fillRepository(source, DAY_SHAPE, signal)
  for (const [index, branch] of BRANCHES.entries()) {
    if (branch === 'main') continue
    await runGitAsUser(['branch', branch, `main~${index * 5}`], gitIn(day))
  }
  // The deltas of fast-import have the oldest version as their base, those of a repack the newest,
  // which is in each shallow clone.
  await runGitAsUser(['repack', '--quiet', '-a', '-d', '-f'], gitIn(day))
}

/**
 * Adds the commits of the hour before the simulation. Kept workspaces are cloned between them, so
 * that they are at different commits.
 */
async function prepareHour(
  day: Day,
  sides: readonly Side[],
  pushes: readonly PlannedPush[],
): Promise<void> {
  for (const [index, push] of pushes.entries()) {
    const target = await commit(day, push)
    day.targets.push(target)
    const part = (index + 1) / pushes.length
    for (const [at, side] of sides.entries()) {
      for (const kind of ['complete', 'shallow'] as const) {
        const kept = side.workspaces[kind]
        while (kept.length < Math.floor(part * WORKSPACES[kind])) {
          const path = join(day.folder, `kept-${at}-${kind}-${kept.length}`)
          await cloneSource(day, { path, kind, branch: target.branch, url: side.url })
          kept.push(path)
        }
      }
    }
  }
}

interface Workspace {
  readonly path: string
  readonly kind: 'complete' | 'shallow'
  readonly branch: string
  readonly url: string
}

async function cloneSource(day: Day, { path, kind, branch, url }: Workspace): Promise<void> {
  const { source, signal } = day
  const from = kind === 'complete' ? [source] : ['--depth=1', `file://${source}`]
  await runGitAsUser(['clone', '--quiet', `--branch=${branch}`, ...from, path], gitIn(day))
  await runGitAsUser(['remote', 'set-url', 'origin', url], { cwd: path, signal })
}

/** Adds the commits of a push to the repository of the developers, and returns the last one. */
async function commit(day: Day, { branch, changes }: PlannedPush): Promise<Target> {
  await addChanges(day.source, changes, day.signal)
  const oid = await runGitAsUser(['rev-parse', `refs/heads/${branch}`], gitIn(day))
  return { branch, oid: oid.trim() }
}

interface Turn {
  readonly push: PlannedPush
  readonly target: Target
}

/** Pushes to a server and runs the jobs, kind by kind, so that CPU time has one kind. */
async function takeTurn(day: Day, side: MeteredSide, { push, target }: Turn): Promise<void> {
  const { meter } = side
  await meter.add(BETWEEN)
  const startedAt = performance.now()
  await runGitAsUser(pushOf(side.pushUrl, [push.branch]), gitIn(day))
  await meter.add(PUSH, [performance.now() - startedAt])
  for (const kind of JOB_KINDS) {
    const jobs = push.jobs.filter((job) => job.kind === kind)
    if (jobs.length === 0) continue
    await meter.add(kind.label, await runJobs(day, side, { jobs, target }))
  }
}

interface Batch {
  readonly jobs: readonly PlannedJob[]
  /** Commit of the jobs that are not re-runs. */
  readonly target: Target
}

/** Runs jobs concurrently and returns their durations. */
async function runJobs(day: Day, side: Side, { jobs, target }: Batch): Promise<readonly number[]> {
  const { folder, signal, targets } = day
  const durationsMs: number[] = []
  const waiting = jobs.values()
  const runOneByOne = async () => {
    for (const { kind, workspace: number, rerunAt } of waiting) {
      const older = rerunAt === undefined ? target : targets[Math.floor(rerunAt * targets.length)]
      const kept = kind.workspace === 'new' ? [] : side.workspaces[kind.workspace]
      const workspace = number === undefined ? undefined : kept[number]
      const options = { target: older ?? target, url: side.url, workspace, folder, signal }
      durationsMs.push(await runJob(kind, options))
    }
  }
  await Promise.all(Array.from({ length: PARALLEL }, runOneByOne))
  return durationsMs
}
