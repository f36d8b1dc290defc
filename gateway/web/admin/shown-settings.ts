/** Values that the administration shows of each setting: an allowlist that omits secrets. */

import { addressOf } from '../../../conf/field.js'
import type { SCHEMAS } from '../../../conf/schemas.js'
import type { Settings } from '../../../conf/settings.js'
import { describeLocation } from '../../../sql/database/dialect.js'

type Schemas = typeof SCHEMAS

/** Function for each setting that returns its value; required by the type for new settings. */
type Shown = {
  readonly [S in keyof Schemas]: {
    readonly [K in keyof Schemas[S]]: (settings: Settings) => string | number | boolean | undefined
  }
}

const SHOWN: Shown = {
  data: {
    dir: ({ data }) => data.dir,
    disk_free_min: ({ data }) => bytesOf(data.freeBytesMin),
  },
  http: {
    listen: ({ http }) => http.listen.map(addressOf).join(', '),
    tls_certificate: ({ http }) => http.tls?.certificate,
    tls_key: ({ http }) => http.tls?.key,
    redirect_listen: ({ http }) => http.redirectListen.map(addressOf).join(', '),
    base_url: ({ http }) => http.baseUrl,
    workers: ({ http }) => http.workers,
    upstream: ({ http: { upstream } }) => upstream && upstream.origin + upstream.pathname,
    trusted_proxies: ({ http }) => http.trustedProxies.entries.join(', '),
    sendfile: ({ http }) => http.sendfile && `nginx:${http.sendfile.prefix}`,
    drain: ({ http }) => durationOf(http.drainMs),
    shutdown_grace: ({ http }) => durationOf(http.shutdownGraceMs),
  },
  database: {
    url: ({ database: { location } }) => `${location.kind}: ${describeLocation(location)}`,
    connections_max: ({ database }) => database.connectionsMax,
  },
  blobs: {
    url: ({ blobs: { location } }) =>
      location.kind === 'files'
        ? `files: ${location.folder}`
        : `s3: ${location.origin}/${location.bucket}/${location.prefix} (${location.region})`,
    redirect: ({ blobs }) => blobs.isRedirected,
  },
  git: {
    processes_max: ({ git }) => git.processesMax,
    queue_max: ({ git }) => git.queueMax,
    client_processes_max: ({ git }) => git.clientProcessesMax,
    queue_timeout: ({ git }) => durationOf(git.queueTimeoutMs),
    anonymous_clone_max: ({ git }) => bytesOf(git.anonymousCloneBytesMax),
    allow_password: ({ git }) => git.allowsPasswords,
    push_max_bytes: ({ git }) => bytesOf(git.pushBytesMax),
    timeout: ({ git }) => durationOf(git.timeoutMs),
    memory_max: ({ git }) => bytesOf(git.memoryBytesMax),
  },
  cache: {
    dir: ({ cache }) => cache.dir,
    disk_max: ({ cache }) => bytesOf(cache.diskBytesMax),
    disk_free: ({ cache }) => bytesOf(cache.diskBytesFree),
    memory_max: ({ cache }) => bytesOf(cache.memoryBytesMax),
  },
  maintenance: {
    enabled: ({ maintenance }) => maintenance.isEnabled,
    delay: ({ maintenance }) => durationOf(maintenance.delayMs),
    jobs_max: ({ maintenance }) => maintenance.jobsMax,
    prune_grace: ({ maintenance }) => durationOf(maintenance.prune.graceMs),
    prune_every: ({ maintenance: { prune } }) => prune.everyMs && durationOf(prune.everyMs),
  },
  backup: {
    dir: ({ backup }) => backup.dir,
    every: ({ backup }) => durationOf(backup.everyMs),
    at: ({ backup }) => new Date(backup.atMs).toISOString().slice(11, 16),
    keep: ({ backup }) => backup.keep,
  },
  web: { enabled: ({ web }) => web.isEnabled },
  actions: {
    enabled: ({ actions }) => actions.isEnabled,
    runs_waiting_max: ({ actions }) => actions.runsWaitingMax,
    artifact_size_max: ({ actions }) => bytesOf(actions.artifactBytesMax),
    artifacts_repository_max: ({ actions }) => bytesOf(actions.repositoryArtifactsBytesMax),
    artifacts_owner_max: ({ actions }) => bytesOf(actions.ownerArtifactsBytesMax),
    artifact_retention_days: ({ actions }) => actions.artifactRetentionDays,
    artifact_retention_days_max: ({ actions }) => actions.artifactRetentionDaysMax,
  },
  packages: {
    enabled: ({ packages }) => packages.isEnabled,
    // The limit of each format, which defaults to this one, is shown instead.
    size_max: () => undefined,
    alpine_size_max: ({ packages }) => bytesOf(packages.sizeBytesMax.alpine),
    composer_size_max: ({ packages }) => bytesOf(packages.sizeBytesMax.composer),
    cran_size_max: ({ packages }) => bytesOf(packages.sizeBytesMax.cran),
    debian_size_max: ({ packages }) => bytesOf(packages.sizeBytesMax.debian),
    generic_size_max: ({ packages }) => bytesOf(packages.sizeBytesMax.generic),
    go_size_max: ({ packages }) => bytesOf(packages.sizeBytesMax.go),
    swift_size_max: ({ packages }) => bytesOf(packages.sizeBytesMax.swift),
    owner_size_max: ({ packages }) => bytesOf(packages.ownerBytesMax),
    owner_versions_max: ({ packages }) => packages.ownerVersionsMax,
    index_kept: ({ packages }) => durationOf(packages.indexKeptMs),
    debian_index_valid: ({ packages: { debianIndexValidMs } }) =>
      debianIndexValidMs && durationOf(debianIndexValidMs),
    debian_signing_key: ({ packages }) => packages.debianKeyType,
  },
  outbound: { allow: ({ outbound }) => outbound.allow.entries.join(', ') },
  webhooks: {
    timeout: ({ webhooks }) => durationOf(webhooks.timeoutMs),
    retry_after: ({ webhooks }) => webhooks.retryAfterMs.map(durationOf).join(', '),
    kept: ({ webhooks }) => durationOf(webhooks.keptMs),
    deliveries_max: ({ webhooks }) => webhooks.deliveriesMax,
  },
  migrations: {
    enabled: ({ migrations }) => migrations.isEnabled,
    mirrors: ({ migrations }) => migrations.hasMirrors,
    size_max: ({ migrations }) => bytesOf(migrations.packBytesMax),
    timeout: ({ migrations }) => durationOf(migrations.timeoutMs),
    idle_timeout: ({ migrations }) => durationOf(migrations.idleMs),
    mirror_interval: ({ migrations }) => durationOf(migrations.mirrorIntervalMs),
    items_max: ({ migrations }) => migrations.itemsMax,
    mirror_interval_min: ({ migrations }) => durationOf(migrations.mirrorIntervalMsMin),
  },
  attachments: { size_max: ({ attachments }) => bytesOf(attachments.sizeBytesMax) },
  lfs: {
    enabled: ({ lfs }) => lfs.isEnabled,
    size_max: ({ lfs }) => bytesOf(lfs.objectBytesMax),
    owner_size_max: ({ lfs }) => bytesOf(lfs.ownerBytesMax),
  },
  metrics: {
    allow: ({ metrics }) => metrics.allow.entries.join(', '),
    token: ({ metrics }) => (metrics.token === undefined ? undefined : 'set (not shown)'),
  },
  ssh: {
    listen_host: ({ ssh }) => ssh.host,
    port: ({ ssh }) => ssh.port,
    user: ({ ssh }) => ssh.user,
    socket: ({ ssh }) => ssh.socket,
  },
  audit: { kept_days: ({ audit }) => audit.keptDays },
  log: { level: ({ log }) => log.level, format: ({ log }) => log.format },
}

/** Returns sections with their settings and current values; empty for unset values. */
export function shownSettings(settings: Settings) {
  return Object.entries(SHOWN).map(([section, keys]) => ({
    section,
    values: Object.entries(keys).map(([key, show]) => ({
      key,
      value: String(show(settings) ?? ''),
    })),
  }))
}

const DURATIONS = [
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
  ['ms', 1],
] as const
const SIZES = [
  ['GiB', 1_073_741_824],
  ['MiB', 1_048_576],
  ['KiB', 1_024],
] as const

/** Formats a duration as in the configuration file, in the largest unit that divides it. */
function durationOf(ms: number): string {
  return written(ms, DURATIONS) ?? `${ms}ms`
}

function bytesOf(bytes: number | undefined): string | undefined {
  return bytes === undefined ? undefined : (written(bytes, SIZES) ?? String(bytes))
}

function written(
  amount: number,
  units: ReadonlyArray<readonly [string, number]>,
): string | undefined {
  const unit = amount === 0 ? undefined : units.find(([, each]) => amount % each === 0)
  return unit && `${amount / unit[1]}${unit[0]}`
}
