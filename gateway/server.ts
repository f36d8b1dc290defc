/** The server of one worker: creates the context, the routes and the listeners. */

import { openJournal } from '../cgi/maintenance/journal.js'
import { KeptObjects } from '../cgi/objects/kept-objects.js'
import { findGit, type Git } from '../cgi/process/git.js'
import { findXz } from '../cgi/process/xz.js'
import type { Log } from '../conf/log.js'
import type { Settings } from '../conf/settings.js'
import { FORMATS } from '../registry/formats.js'
import { openRegistry } from '../registry/registry.js'
import { closeDatabase, openDatabase } from '../sql/database/database.js'
import { publishLeftPushes } from './actions/code/push-records.js'
import { mergeScheduled } from './actions/pulls/merge-scheduled.js'
import { NODE_INFO_LINKS } from './api/admin/node-info.js'
import { AVATAR_ROUTES } from './api/avatar-routes.js'
import { WEB_ARCHIVE_ROUTES } from './api/code/get-archives.js'
import { WEB_RAW_ROUTES } from './api/code/get-raw.js'
import { DOWNLOAD_ROUTES } from './api/downloads.js'
import { OPERATIONS } from './api/operations.js'
import { API_SURFACE } from './api/surface.js'
import { swaggerRoutes } from './api/swagger.js'
import { routeOf } from './api/validate.js'
import { BLOB_ROUTES } from './artifacts/blob-routes.js'
import { PIPELINE_ROUTES } from './artifacts/pipeline-routes.js'
import { SERVICE_ROUTES } from './artifacts/service-routes.js'
import { SUMMARY_ROUTE } from './artifacts/summary-route.js'
import { openSharedFailures, type SharedFailures } from './auth/shared-failures.js'
import type { Throttle } from './auth/throttle.js'
import { GO_IMPORT_ROUTES } from './git/go-import.js'
import { LFS_ROUTES } from './git/lfs-routes.js'
import { GIT_ROUTES } from './git/routes.js'
import { HEALTH_ROUTES } from './health.js'
import type { DrainTimes } from './http/drain.js'
import { listen } from './http/listen.js'
import { createUpkeep } from './jobs/upkeep.js'
import { OAUTH_ROUTES } from './oauth/routes.js'
import { routesOf } from './packages/routes.js'
import { createProcessQueue } from './packs/process-queue.js'
import type { CoordinatorLink } from './packs/single-flight.js'
import { createLocalCoordinator, createPackCache } from './packs/warm.js'
import { inspectIn } from './pool/inspect.js'
import { matchPatternsIn } from './pool/match-patterns.js'
import { openpgpIn } from './pool/openpgp.js'
import { planIn } from './pool/plan.js'
import { createPools, type Pools } from './pool/pools.js'
import { createRenderings } from './pool/renderings.js'
import { readFilesIn } from './pool/repository-files.js'
import { shrinkIn } from './pool/shrink.js'
import type { Context } from './request/context.js'
import { watchDisks } from './request/disk-watch.js'
import { createEvents } from './request/events.js'
import { watchLoop } from './request/loop-watch.js'
import { createMetrics, type Metrics } from './request/metrics.js'
import { createPushRecovery } from './request/push-recovery.js'
import type { AnyRoute } from './request/route.js'
import { createRouteTable } from './request/route-table.js'
import { createRouter } from './request/router.js'
import { createSiteMetrics } from './request/site-metrics.js'
import { RUNNER_ROUTES } from './runners/routes.js'
import { planEvent } from './runs/plan-event.js'
import { planJob } from './runs/plan-job.js'
import { refreshSchedules } from './runs/refresh-schedules.js'
import { startSchedules } from './runs/start-schedules.js'
import { sweepRuns } from './runs/sweep-runs.js'
import type { SshSocket } from './ssh/socket-file.js'
import { openSshSurface } from './ssh/surface.js'
import { subscribeAll } from './subscribe.js'
import { asksForPage, WEB_SURFACE } from './web/kit/surface.js'
import { WEB_ROUTES } from './web/pages.js'

export interface ServerOptions {
  readonly settings: Settings
  readonly log: Log
  /** Creates the limits of failed sign-ins, with the failures of other gateways. */
  readonly createThrottle: (failures: SharedFailures) => Throttle
  /** Git to use; by default the one installed on this system. */
  readonly git?: Git
  /** Threads to use, which `stop` does not end; by default own ones. */
  readonly pools?: Pools
  /** Link to the workers' single-flight coordinator; by default a local one. */
  readonly coordinator?: CoordinatorLink
  /** Socket for requests from sshd; if absent, SSH is not served. */
  readonly sshSocket?: SshSocket
  /** Returns the text of `/metrics`; by default only the metrics of this process. */
  readonly collectMetrics?: () => Promise<string>
}

export interface Server {
  readonly port: number
  readonly metrics: Metrics
  /**
   * Ends connections and requests within the times (by default those of the settings), then frees
   * all resources. A later call changes the times of the first.
   */
  stop(times?: DrainTimes): Promise<void>
}

/** Paths of the operations and pages of workflow automation. */
const OF_ACTIONS = /\/actions(?:\/|$)|^\/admin\/runners\//

/** Paths of the operations and pages of packages. */
const OF_PACKAGES = /\/packages(?:\/|$)/

const ARTIFACT_ROUTES = [...SERVICE_ROUTES, ...PIPELINE_ROUTES, SUMMARY_ROUTE, ...BLOB_ROUTES]

/** Returns all routes, without those of disabled features. */
export function allRoutes({
  actions,
  lfs,
  packages,
  web,
}: {
  readonly [S in 'actions' | 'lfs' | 'packages' | 'web']: Pick<Settings[S], 'isEnabled'>
}): readonly AnyRoute[] {
  const { isEnabled: hasPackages } = packages
  const isThere = ({ path }: Pick<AnyRoute, 'path'>) =>
    (hasPackages || !OF_PACKAGES.test(path)) && (actions.isEnabled || !OF_ACTIONS.test(path))
  const operations = OPERATIONS.filter(isThere)
  return [
    ...HEALTH_ROUTES,
    ...operations.map(routeOf),
    ...swaggerRoutes(operations),
    NODE_INFO_LINKS,
    ...DOWNLOAD_ROUTES,
    ...AVATAR_ROUTES,
    ...GIT_ROUTES,
    ...GO_IMPORT_ROUTES,
    ...(lfs.isEnabled ? LFS_ROUTES : []),
    ...WEB_ARCHIVE_ROUTES,
    ...WEB_RAW_ROUTES,
    ...(actions.isEnabled ? [...RUNNER_ROUTES, ...ARTIFACT_ROUTES] : []),
    ...(hasPackages ? FORMATS.flatMap(routesOf) : []),
    ...(web.isEnabled ? [...OAUTH_ROUTES, ...WEB_ROUTES.filter(isThere)] : []),
  ]
}

/** Starts serving. Throws if the database, git or the port is not available. */
export async function startServer(options: ServerOptions): Promise<Server> {
  const { log, settings } = options
  const { context, close } = await openContext(options)
  const { metrics, upkeep } = context
  const watch = watchLoop({ log, observe: metrics.observeLoopDelay })
  const { upstream, trustedProxies, sendfile: target, baseUrl } = settings.http
  const listener = await listen({
    listen: settings.http.listen,
    tls: settings.http.tls,
    redirect: { listen: settings.http.redirectListen, origin: new URL(baseUrl).origin },
    trustedProxies,
    sendfile: target && { target, folder: settings.data.dir },
    handle: createRouter({
      context,
      table: createRouteTable(allRoutes(settings)),
      surfaceOfUnknown: (request) =>
        settings.web.isEnabled && asksForPage(settings, request) ? WEB_SURFACE : API_SURFACE,
      forward: upstream === undefined ? undefined : await openForwarder(upstream),
      watch,
    }),
    onBroken: ({ id, method, path }, error) =>
      log.warn({ requestId: id, method, path, error }, 'an answer was aborted'),
  })
  const sshSurface =
    options.sshSocket === undefined ? undefined : await openSshSurface(context, options.sshSocket)
  upkeep.start()
  const leftPushes = publishLeftPushes(context)
  let stopping: Promise<void> | undefined
  return {
    port: listener.port,
    metrics,
    stop(times = drainTimes(settings)) {
      const draining = Promise.all([listener.drain(times), sshSurface?.drain(times.graceMs)])
      stopping ??= Promise.all([draining, upkeep.stop()]).then(async () => {
        await leftPushes.stop()
        watch.stop()
        await close()
      })
      return stopping
    },
  }
}

/** Loads the proxy, which few sites use, only if there is an upstream. */
async function openForwarder(upstream: URL) {
  const { createForwarder } = await import('./http/forward.js')
  return createForwarder(upstream)
}

interface OpenedContext {
  readonly context: Context
  /** Ends threads, storage and database connections. Nothing may use the context afterwards. */
  close(): Promise<void>
}

async function openContext(options: ServerOptions): Promise<OpenedContext> {
  const { log, settings } = options
  const metrics = createMetrics()
  const queue = createProcessQueue(() => boundsOf(settings), metrics.observeQueueWait)
  metrics.watchQueue(queue)
  const { memoryBytesMax } = settings.git
  const git: Git = { ...(options.git ?? (await findGit())), memoryBytesMax }
  if (git.prlimit === undefined) log.warn(UNLIMITED)
  const objects = new KeptObjects(git)
  const db = await openDatabase(settings.database)
  const failures = openSharedFailures({ db, log, dataDir: settings.data.dir })
  const journal = await openJournal(settings.data.dir)
  const pushRecovery = createPushRecovery(settings.data.dir, log)
  const packCache = createPackCache({
    git,
    log,
    queue,
    settings: () => settings,
    link: options.coordinator ?? createLocalCoordinator(settings.cache.dir),
  })
  metrics.watchPackCache(packCache)
  const disk = watchDisks({ settings: () => settings, log, packCache })
  metrics.watchDisks(disk)
  const pools = options.pools ?? createPools(metrics.countTask)
  const registry = await openRegistry({
    settings: () => settings,
    db,
    log,
    compressXz: findXz(),
    inspect: inspectIn(pools.uploads),
    matchPatterns: matchPatternsIn(pools.uploads),
    digest: pools.digests.start,
  })
  const { collectMetrics = () => metrics.registry.metrics() } = options
  const collectSiteMetrics = createSiteMetrics(db, log)
  const upkeep = createUpkeep(
    { settings, log, db, disk, git, journal, registry, pushRecovery },
    {
      mergePull: (pullId) => mergeScheduled(context, pullId),
      runs: {
        planEvent: (eventId) => planEvent(context, eventId),
        planJob: (jobId) => planJob(context, jobId),
        sweepRuns: () => sweepRuns(context),
        refreshSchedules: (repositoryId) => refreshSchedules(context, repositoryId),
        startSchedules: () => startSchedules(context),
      },
    },
  )
  const context: Context = {
    settings,
    log,
    db,
    disk,
    git,
    objects,
    journal,
    pushRecovery,
    upkeep,
    events: createEvents(log),
    queue,
    registry,
    packCache,
    throttle: options.createThrottle(failures),
    metrics,
    renderings: createRenderings({ pool: pools.pages, log }),
    shrinkPicture: shrinkIn(pools.uploads),
    openpgp: openpgpIn(pools.pages),
    ...planIn(pools.uploads),
    ...readFilesIn(pools.pages),
    collectMetrics: async () => `${await collectMetrics()}${await collectSiteMetrics()}`,
  }
  subscribeAll(context)
  return {
    context,
    async close() {
      objects.stop()
      if (options.pools === undefined) await pools.stop()
      await Promise.all([registry.stop(), failures.stop()])
      await closeDatabase(db)
    },
  }
}

const UNLIMITED = 'git has no memory and CPU limits: prlimit (util-linux) cannot be run'

function drainTimes({ http: { drainMs, shutdownGraceMs } }: Settings): DrainTimes {
  const hasSuccessor = false
  return { acceptMs: drainMs, lingerMs: drainMs, graceMs: shutdownGraceMs, hasSuccessor }
}

/** Returns this worker's share of the limits, which apply to all workers together. */
function boundsOf(settings: Settings) {
  const { processesMax, queueMax, queueTimeoutMs, clientProcessesMax } = settings.git
  const { workers } = settings.http
  return {
    runningMax: Math.max(1, Math.ceil(processesMax / workers)),
    waitingMax: Math.ceil(queueMax / workers),
    waitMs: queueTimeoutMs,
    clientMax: Math.ceil((clientProcessesMax ?? Number.POSITIVE_INFINITY) / workers),
  }
}
