/** The settings as the program uses them, derived from the values of their schema. */

import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import type { AddressSet } from './addresses.js'
import type { BlobLocation } from './blob-location.js'
import type { DatabaseLocation } from './database-location.js'
import { addressOf, type Field, type HostPort } from './field.js'
import type { HostSet } from './host-set.js'
import type { LogOptions } from './log.js'
import { type DebianKeyType, PACKAGE_FORMATS, type PackageFormat } from './package.js'
import type { SCHEMAS } from './schemas.js'
import type { SendfileTarget } from './sendfile-target.js'

type Schemas = typeof SCHEMAS
type SectionValues<S> = {
  readonly [K in keyof S]: S[K] extends Field<infer T> ? T | undefined : never
}
/** Values from the file and the environment, with the plain defaults filled in. */
export type GivenSettings = { readonly [S in keyof Schemas]: SectionValues<Schemas[S]> }

/** Absolute paths of the files with which the gateway serves HTTPS. */
export interface TlsFiles {
  readonly certificate: string
  readonly key: string
}

export interface Settings {
  readonly data: { readonly dir: string; readonly freeBytesMin: number }
  readonly http: {
    /** Addresses of the listener; there is at least one. */
    readonly listen: readonly HostPort[]
    /** Files of the certificate; undefined if the gateway serves HTTP. */
    readonly tls: TlsFiles | undefined
    /** Addresses that redirect to the base URL. */
    readonly redirectListen: readonly HostPort[]
    /** Base URL without a slash at the end. */
    readonly baseUrl: string
    /** Path of the base URL, without a slash at the end; may be empty. */
    readonly basePath: string
    readonly workers: number
    readonly upstream: URL | undefined
    readonly trustedProxies: AddressSet
    readonly sendfile: SendfileTarget | undefined
    readonly drainMs: number
    readonly shutdownGraceMs: number
  }
  readonly database: { readonly location: DatabaseLocation; readonly connectionsMax: number }
  readonly blobs: { readonly location: BlobLocation; readonly isRedirected: boolean }
  readonly git: {
    readonly processesMax: number
    readonly queueMax: number
    readonly clientProcessesMax: number | undefined
    readonly queueTimeoutMs: number
    readonly anonymousCloneBytesMax: number | undefined
    readonly allowsPasswords: boolean
    readonly pushBytesMax: number
    readonly timeoutMs: number
    readonly memoryBytesMax: number
  }
  readonly cache: {
    /** Absolute path. */
    readonly dir: string
    readonly diskBytesMax: number
    readonly diskBytesFree: number
    readonly memoryBytesMax: number
  }
  readonly maintenance: {
    readonly isEnabled: boolean
    readonly delayMs: number
    readonly jobsMax: number
    readonly prune: { readonly graceMs: number; readonly everyMs: number | undefined }
  }
  readonly backup: {
    /** Folder to which the server adds backups; undefined if it makes none. */
    readonly dir: string | undefined
    readonly everyMs: number
    /** Time after midnight, in UTC, at which the intervals begin. */
    readonly atMs: number
    readonly keep: number
  }
  readonly web: { readonly isEnabled: boolean }
  readonly actions: {
    readonly isEnabled: boolean
    /** Maximum number of runs of a repository of which no job has begun. */
    readonly runsWaitingMax: number
    readonly artifactBytesMax: number
    /** Maximum total size of the artifacts of a repository. */
    readonly repositoryArtifactsBytesMax: number
    /** Maximum total size of the artifacts of an owner's repositories; undefined for no limit. */
    readonly ownerArtifactsBytesMax: number | undefined
    readonly artifactRetentionDays: number
    readonly artifactRetentionDaysMax: number
  }
  readonly packages: {
    readonly isEnabled: boolean
    /** Maximum file size by format; undefined for no limit. */
    readonly sizeBytesMax: Readonly<Partial<Record<PackageFormat, number>>>
    readonly ownerBytesMax: number | undefined
    readonly ownerVersionsMax: number | undefined
    readonly indexKeptMs: number
    /** Time for which a Debian index is valid; undefined for no limit. */
    readonly debianIndexValidMs: number | undefined
    readonly debianKeyType: DebianKeyType
  }
  readonly outbound: { readonly allow: HostSet }
  readonly webhooks: {
    readonly timeoutMs: number
    readonly retryAfterMs: readonly number[]
    readonly keptMs: number
    readonly deliveriesMax: number
  }
  readonly migrations: {
    readonly isEnabled: boolean
    readonly hasMirrors: boolean
    readonly packBytesMax: number
    readonly timeoutMs: number
    readonly idleMs: number
    readonly mirrorIntervalMs: number
    readonly mirrorIntervalMsMin: number
    readonly itemsMax: number
  }
  readonly attachments: { readonly sizeBytesMax: number }
  readonly lfs: {
    readonly isEnabled: boolean
    readonly objectBytesMax: number
    /** Maximum total size of the objects of an owner's repositories; undefined for no limit. */
    readonly ownerBytesMax: number | undefined
  }
  readonly metrics: { readonly allow: AddressSet; readonly token: string | undefined }
  readonly ssh: {
    readonly host: string
    readonly port: number
    readonly user: string
    /** Absolute path of a Unix socket. */
    readonly socket: string
  }
  readonly audit: { readonly keptDays: number }
  readonly log: LogOptions
}

/** Derives the settings. Defaults that depend on other settings are computed here. */
export function deriveSettings(given: GivenSettings): Settings {
  const dataDir = resolve(required(given.data.dir))
  const { listen, tls, redirectListen, baseUrl } = listenersOf(given)
  const basePath = baseUrl.pathname.replace(/\/+$/, '')
  const { prune_grace, prune_every: everyMs } = given.maintenance
  return {
    data: { dir: dataDir, freeBytesMin: required(given.data.disk_free_min) },
    http: {
      listen,
      tls,
      redirectListen,
      baseUrl: baseUrl.origin + basePath,
      basePath,
      workers: given.http.workers ?? availableParallelism(),
      upstream: given.http.upstream,
      trustedProxies: required(given.http.trusted_proxies),
      sendfile: given.http.sendfile,
      drainMs: required(given.http.drain),
      shutdownGraceMs: required(given.http.shutdown_grace),
    },
    database: {
      location: given.database.url ?? { kind: 'sqlite', file: `${dataDir}/gatehouse.db` },
      connectionsMax: required(given.database.connections_max),
    },
    blobs: {
      location: given.blobs.url ?? { kind: 'files', folder: `${dataDir}/blobs` },
      isRedirected: required(given.blobs.redirect),
    },
    git: {
      processesMax: given.git.processes_max ?? Math.max(8, 4 * availableParallelism()),
      queueMax: required(given.git.queue_max),
      clientProcessesMax: given.git.client_processes_max,
      queueTimeoutMs: required(given.git.queue_timeout),
      anonymousCloneBytesMax: given.git.anonymous_clone_max,
      allowsPasswords: required(given.git.allow_password),
      pushBytesMax: required(given.git.push_max_bytes),
      timeoutMs: required(given.git.timeout),
      memoryBytesMax: required(given.git.memory_max),
    },
    cache: {
      dir: given.cache.dir === undefined ? `${dataDir}/cache` : resolve(given.cache.dir),
      diskBytesMax: required(given.cache.disk_max),
      diskBytesFree: required(given.cache.disk_free),
      memoryBytesMax: required(given.cache.memory_max),
    },
    maintenance: {
      isEnabled: required(given.maintenance.enabled),
      delayMs: required(given.maintenance.delay),
      jobsMax: required(given.maintenance.jobs_max),
      prune: { graceMs: required(prune_grace), everyMs },
    },
    backup: {
      dir: given.backup.dir === undefined ? undefined : resolve(given.backup.dir),
      everyMs: required(given.backup.every),
      atMs: required(given.backup.at),
      keep: required(given.backup.keep),
    },
    web: { isEnabled: given.web.enabled ?? given.http.upstream === undefined },
    actions: {
      isEnabled: required(given.actions.enabled),
      runsWaitingMax: required(given.actions.runs_waiting_max),
      artifactBytesMax: required(given.actions.artifact_size_max),
      repositoryArtifactsBytesMax: required(given.actions.artifacts_repository_max),
      ownerArtifactsBytesMax: given.actions.artifacts_owner_max,
      artifactRetentionDays: required(given.actions.artifact_retention_days),
      artifactRetentionDaysMax: required(given.actions.artifact_retention_days_max),
    },
    packages: {
      isEnabled: required(given.packages.enabled),
      sizeBytesMax: sizesOf(given.packages),
      ownerBytesMax: given.packages.owner_size_max,
      ownerVersionsMax: given.packages.owner_versions_max,
      indexKeptMs: required(given.packages.index_kept),
      debianIndexValidMs: given.packages.debian_index_valid,
      debianKeyType: required(given.packages.debian_signing_key),
    },
    ...outboundOf(given),
    attachments: { sizeBytesMax: required(given.attachments.size_max) },
    lfs: {
      isEnabled: required(given.lfs.enabled),
      objectBytesMax: required(given.lfs.size_max),
      ownerBytesMax: given.lfs.owner_size_max,
    },
    metrics: { allow: required(given.metrics.allow), token: given.metrics.token },
    ssh: {
      host: given.ssh.listen_host ?? baseUrl.hostname,
      port: required(given.ssh.port),
      user: required(given.ssh.user),
      socket: resolve(given.ssh.socket ?? `${dataDir}/run/ssh.sock`),
    },
    audit: { keptDays: required(given.audit.kept_days) },
    log: { level: required(given.log.level), format: required(given.log.format) },
  }
}

/** Derives addresses and TLS. `mistakesBetween` has refused a certificate without its key. */
function listenersOf({ http }: GivenSettings) {
  const listen = required(http.listen)
  const [first] = listen
  const { tls_certificate: certificate, tls_key: key } = http
  const tls =
    certificate === undefined || key === undefined
      ? undefined
      : { certificate: resolve(certificate), key: resolve(key) }
  const scheme = tls === undefined ? 'http' : 'https'
  const baseUrl = http.base_url ?? new URL(`${scheme}://${addressOf(required(first))}`)
  return { listen, tls, redirectListen: required(http.redirect_listen), baseUrl }
}

/** Returns the mistakes of values that are valid each, but not together. */
export function mistakesBetween({ http }: GivenSettings): readonly string[] {
  const { tls_certificate: certificate, tls_key: key } = http
  const isTls = certificate !== undefined && key !== undefined
  const isHttps = http.base_url === undefined ? isTls : http.base_url.protocol === 'https:'
  const mistakes: string[] = []
  if ((certificate === undefined) !== (key === undefined)) {
    mistakes.push('http.tls_certificate and http.tls_key must be set together')
  }
  if (isTls && !isHttps) {
    mistakes.push('http.base_url must start with https: if http.tls_certificate is set')
  }
  if (required(http.redirect_listen).length > 0 && !isHttps) {
    mistakes.push('http.base_url must start with https: if http.redirect_listen is set')
  }
  return mistakes
}

/** Derives the settings of connections to other servers. */
function outboundOf(given: GivenSettings): Pick<Settings, 'outbound' | 'webhooks' | 'migrations'> {
  return {
    outbound: { allow: required(given.outbound.allow) },
    webhooks: {
      timeoutMs: required(given.webhooks.timeout),
      retryAfterMs: required(given.webhooks.retry_after),
      keptMs: required(given.webhooks.kept),
      deliveriesMax: required(given.webhooks.deliveries_max),
    },
    migrations: {
      isEnabled: required(given.migrations.enabled),
      hasMirrors: required(given.migrations.mirrors),
      packBytesMax: required(given.migrations.size_max),
      timeoutMs: required(given.migrations.timeout),
      idleMs: required(given.migrations.idle_timeout),
      mirrorIntervalMs: required(given.migrations.mirror_interval),
      mirrorIntervalMsMin: required(given.migrations.mirror_interval_min),
      itemsMax: required(given.migrations.items_max),
    },
  }
}

function sizesOf(given: GivenSettings['packages']): Settings['packages']['sizeBytesMax'] {
  const sizes: Partial<Record<PackageFormat, number>> = {}
  for (const format of PACKAGE_FORMATS) {
    const bytes = given[`${format}_size_max`] ?? given.size_max
    if (bytes !== undefined) sizes[format] = bytes
  }
  return sizes
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('a setting without a default was read')
  return value
}
