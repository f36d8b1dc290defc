/** Every setting, in one schema per concern: its default, its reader, and a sentence. */

import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { type AddressSet, parseAddressSet } from './addresses.js'
import { asBlobLocation, type BlobLocation } from './blob-location.js'
import { asDatabaseLocation, type DatabaseLocation } from './database-location.js'
import {
  asBoolean,
  asBytes,
  asCount,
  asDurationMs,
  asHostPort,
  asList,
  asOneOf,
  asPort,
  asText,
  asUrl,
  type Field,
  type HostPort,
} from './field.js'
import { type HostSet, parseHostSet } from './host-set.js'
import { LOG_FORMATS, LOG_LEVELS, type LogOptions } from './log.js'
import { PACKAGE_FORMATS, type PackageFormat } from './package.js'

function field<T>(
  about: string,
  parse: (value: unknown) => T,
  byDefault?: Field<T>['byDefault'],
): Field<T> {
  return byDefault === undefined ? { about, parse } : { about, parse, byDefault }
}

const asAddresses = (value: unknown): AddressSet => parseAddressSet(asList(asText)(value))
const asHosts = (value: unknown): HostSet => parseHostSet(asList(asText)(value))

function sizeOf(format: PackageFormat) {
  return field(
    `The largest file of a package for ${format}; by default, packages.size_max.`,
    asBytes,
  )
}

/** Section → key → field: `section.key` in the file and `GATEHOUSE_SECTION_KEY` outside. */
export const SCHEMAS = {
  data: {
    dir: field('The folder of repositories, database, caches and keys.', asText, './data'),
  },
  http: {
    listen: field('The address and port to listen on.', asHostPort, '127.0.0.1:3000'),
    base_url: field(
      'What links say; may hold a sub-path. Follows from http.listen when it is not set.',
      asUrl('http:', 'https:'),
    ),
    workers: field('Gateway processes that share the port; by default one a CPU.', asCount(1)),
    upstream: field(
      'Requests that no native route serves are passed on to this URL; none: they get a 404.',
      asUrl('http:', 'https:'),
    ),
    trusted_proxies: field(
      'Proxies whose X-Forwarded-For and X-Forwarded-Proto are believed.',
      asAddresses,
      ['127.0.0.1', '::1'],
    ),
    shutdown_grace: field(
      'How long running clones, pushes and uploads may go on after SIGTERM.',
      asDurationMs,
      '30s',
    ),
  },
  database: {
    url: field(
      'sqlite:PATH or mysql://user:password@host:port/name; by default gatehouse.db in data.dir.',
      asDatabaseLocation,
    ),
    connections_max: field('Connections of one worker to a MySQL server.', asCount(1), 10),
  },
  blobs: {
    url: field(
      'file:PATH or s3://key:secret@host/bucket?region=us-east-1; by default blobs in data.dir.',
      asBlobLocation,
    ),
    redirect: field(
      'Whether clients are sent to S3 for their downloads; they must be able to reach it.',
      asBoolean,
      false,
    ),
  },
  git: {
    processes_max: field('Git services that run at once, over all workers.', asCount(1), 32),
    queue_max: field('Git requests that may wait for a place, over all workers.', asCount(0), 256),
    client_processes_max: field(
      'Git requests of one client that run or wait at once, over all workers; by default, any.',
      asCount(1),
    ),
    queue_timeout: field('How long a Git request may wait for a place.', asDurationMs, '30s'),
    anonymous_clone_max: field(
      'Larger repositories are cloned and fetched by signed-in users only; by default, by anybody.',
      asBytes,
    ),
    push_max_bytes: field('The largest pack that a push may send.', asBytes, '4GiB'),
    timeout: field('The longest that one clone or push may take.', asDurationMs, '2h'),
  },
  cache: {
    disk_max: field(
      'What the pack cache may keep on the disk; 0: nothing is kept.',
      asBytes,
      '10GiB',
    ),
    disk_free: field('The pack cache leaves at least this free on its disk.', asBytes, '1GiB'),
    memory_max: field('What each worker may hold of the pack cache in memory.', asBytes, '128MiB'),
  },
  maintenance: {
    enabled: field(
      'Whether repositories are repacked in the background, so that clones stay cheap.',
      asBoolean,
      true,
    ),
    delay: field(
      'How long after a push; further pushes meanwhile cost nothing.',
      asDurationMs,
      '10s',
    ),
    jobs_max: field('Repositories in work at once on one machine, one a worker.', asCount(1), 1),
  },
  web: {
    enabled: field(
      'Whether there are pages for people; by default, unless http.upstream may have its own.',
      asBoolean,
    ),
  },
  packages: {
    enabled: field(
      'Whether there are package registries; without them they answer 404.',
      asBoolean,
      true,
    ),
    size_max: field('The largest file that a package may have; by default, any.', asBytes),
    alpine_size_max: sizeOf('alpine'),
    composer_size_max: sizeOf('composer'),
    cran_size_max: sizeOf('cran'),
    debian_size_max: sizeOf('debian'),
    generic_size_max: sizeOf('generic'),
    go_size_max: sizeOf('go'),
    swift_size_max: sizeOf('swift'),
    owner_size_max: field(
      'What all package files of one owner may have together; by default, anything.',
      asBytes,
    ),
    index_kept: field(
      'How long the files of an index can be had by their digest after they were replaced.',
      asDurationMs,
      '1h',
    ),
  },
  outbound: {
    allow: field(
      'Hosts and networks inside that webhooks and migrations may call; else the internet alone.',
      asHosts,
      [],
    ),
  },
  webhooks: {
    timeout: field('How long a receiver may take to answer.', asDurationMs, '5s'),
    retry_after: field(
      'Pauses before a delivery that failed is tried again; after the last one it is given up.',
      asList(asDurationMs),
      ['30s', '2m', '15m', '1h', '6h'],
    ),
    kept: field('How long deliveries that wait for nothing are kept.', asDurationMs, '168h'),
    deliveries_max: field('Receivers that one machine calls at once.', asCount(1), 4),
  },
  migrations: {
    enabled: field('Whether repositories may be taken over from other servers.', asBoolean, true),
    mirrors: field('Whether new ones may keep following their source.', asBoolean, true),
    size_max: field('The largest repository, and the largest update.', asBytes, '4GiB'),
    timeout: field('The longest that taking one over may take.', asDurationMs, '1h'),
    idle_timeout: field('How long a source may say nothing.', asDurationMs, '2m'),
    mirror_interval: field(
      'How often mirrors are updated whose owners do not say it.',
      asDurationMs,
      '8h',
    ),
    items_max: field('The most issues, comments and the like of one.', asCount(1), 100_000),
    mirror_interval_min: field('The most often that owners may have it.', asDurationMs, '10m'),
  },
  attachments: {
    size_max: field(
      'The largest file that is attached to a release; a larger one is 413.',
      asBytes,
      '2GiB',
    ),
  },
  metrics: {
    allow: field('Addresses that may read /metrics.', asAddresses, ['127.0.0.1', '::1']),
    token: field('A bearer token that may read /metrics from anywhere.', asText),
  },
  ssh: {
    listen_host: field('The host that SSH clone addresses show.', asText),
    port: field('The port that SSH clone addresses show.', asPort, 22),
    user: field('The user that SSH clone addresses show.', asText, 'git'),
    socket: field(
      'Where sshd asks the gateway; by default run/ssh.sock in data.dir. At most 107 bytes.',
      asText,
    ),
  },
  log: {
    level: field('The least severe log line that is written.', asOneOf(LOG_LEVELS), 'info'),
    format: field(
      'json, text, or auto: text on a terminal, else JSON. SIGHUP re-reads the level, not the format.',
      asOneOf(LOG_FORMATS),
      'auto',
    ),
  },
} as const

type Schemas = typeof SCHEMAS
type SectionValues<S> = {
  readonly [K in keyof S]: S[K] extends Field<infer T> ? T | undefined : never
}
/** What file and environment say, with the plain defaults in place. */
export type GivenSettings = { readonly [S in keyof Schemas]: SectionValues<Schemas[S]> }

export interface Settings {
  readonly data: { readonly dir: string }
  readonly http: {
    readonly listen: HostPort
    /** Without a slash at the end. */
    readonly baseUrl: string
    /** The base URL's sub-path, without a slash at the end; empty for none. */
    readonly basePath: string
    readonly workers: number
    readonly upstream: URL | undefined
    readonly trustedProxies: AddressSet
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
    readonly pushBytesMax: number
    readonly timeoutMs: number
  }
  readonly cache: {
    readonly diskBytesMax: number
    readonly diskBytesFree: number
    readonly memoryBytesMax: number
  }
  readonly maintenance: {
    readonly isEnabled: boolean
    readonly delayMs: number
    readonly jobsMax: number
  }
  readonly web: { readonly isEnabled: boolean }
  readonly packages: {
    readonly isEnabled: boolean
    /** By format; absent: any size. */
    readonly sizeBytesMax: Readonly<Partial<Record<PackageFormat, number>>>
    readonly ownerBytesMax: number | undefined
    readonly indexKeptMs: number
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
  readonly metrics: { readonly allow: AddressSet; readonly token: string | undefined }
  readonly ssh: {
    readonly host: string
    readonly port: number
    readonly user: string
    /** Absolute path of a Unix socket. */
    readonly socket: string
  }
  readonly log: LogOptions
}

/** The settings as the house uses them: what is not given follows from what is. */
export function deriveSettings(given: GivenSettings): Settings {
  const dataDir = resolve(required(given.data.dir))
  const listen = required(given.http.listen)
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host
  const baseUrl = given.http.base_url ?? new URL(`http://${host}:${listen.port}`)
  const basePath = baseUrl.pathname.replace(/\/+$/, '')
  return {
    data: { dir: dataDir },
    http: {
      listen,
      baseUrl: baseUrl.origin + basePath,
      basePath,
      workers: given.http.workers ?? availableParallelism(),
      upstream: given.http.upstream,
      trustedProxies: required(given.http.trusted_proxies),
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
      processesMax: required(given.git.processes_max),
      queueMax: required(given.git.queue_max),
      clientProcessesMax: given.git.client_processes_max,
      queueTimeoutMs: required(given.git.queue_timeout),
      anonymousCloneBytesMax: given.git.anonymous_clone_max,
      pushBytesMax: required(given.git.push_max_bytes),
      timeoutMs: required(given.git.timeout),
    },
    cache: {
      diskBytesMax: required(given.cache.disk_max),
      diskBytesFree: required(given.cache.disk_free),
      memoryBytesMax: required(given.cache.memory_max),
    },
    maintenance: {
      isEnabled: required(given.maintenance.enabled),
      delayMs: required(given.maintenance.delay),
      jobsMax: required(given.maintenance.jobs_max),
    },
    web: { isEnabled: given.web.enabled ?? given.http.upstream === undefined },
    packages: {
      isEnabled: required(given.packages.enabled),
      sizeBytesMax: sizesOf(given.packages),
      ownerBytesMax: given.packages.owner_size_max,
      indexKeptMs: required(given.packages.index_kept),
    },
    ...outboundOf(given),
    attachments: { sizeBytesMax: required(given.attachments.size_max) },
    metrics: { allow: required(given.metrics.allow), token: given.metrics.token },
    ssh: {
      host: given.ssh.listen_host ?? baseUrl.hostname,
      port: required(given.ssh.port),
      user: required(given.ssh.user),
      socket: resolve(given.ssh.socket ?? `${dataDir}/run/ssh.sock`),
    },
    log: { level: required(given.log.level), format: required(given.log.format) },
  }
}

/** What this house asks of others. */
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
