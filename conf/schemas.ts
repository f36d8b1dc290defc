/** Schema of the settings: default, parser and description of each key, by section. */

import { type AddressSet, parseAddressSet } from './addresses.js'
import { asBlobLocation } from './blob-location.js'
import { asDatabaseLocation } from './database-location.js'
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
  asTimeOfDayMs,
  asUrl,
  type Field,
  type HostPort,
} from './field.js'
import { type HostSet, parseHostSet } from './host-set.js'
import { LOG_FORMATS, LOG_LEVELS } from './log.js'
import { DEBIAN_KEY_TYPES, PACKAGE_FORMATS, type PackageFormat } from './package.js'
import { asSendfileTarget } from './sendfile-target.js'

function field<T>(
  about: string,
  parse: (value: unknown) => T,
  byDefault?: Field<T>['byDefault'],
): Field<T> {
  return byDefault === undefined ? { about, parse } : { about, parse, byDefault }
}

const asAddresses = (value: unknown): AddressSet => parseAddressSet(asList(asText)(value))
const VALIDITY_MS_MIN = 60_000

/** Parses a duration in which clients can read an index before it is renewed. */
function asValidityMs(value: unknown): number {
  const durationMs = asDurationMs(value)
  if (durationMs < VALIDITY_MS_MIN) throw new Error("must be a duration of at least '1m'")
  return durationMs
}

const HOUR_MS = 3_600_000

/** Parses an interval of backups. */
function asIntervalMs(value: unknown): number {
  const durationMs = asDurationMs(value)
  if (durationMs < HOUR_MS) throw new Error("must be a duration of at least '1h'")
  return durationMs
}

/** Parses one address or a list with at least one. */
function asListen(value: unknown): readonly HostPort[] {
  const addresses = asList(asHostPort)(value)
  if (addresses.length === 0) throw new Error("must be an address such as '127.0.0.1:3000'")
  return addresses
}

const asHosts = (value: unknown): HostSet => parseHostSet(asList(asText)(value))

type SizeKey = `${PackageFormat}_size_max`

/** Fields for the maximum file size, one for each package format. */
const SIZE_FIELDS = Object.fromEntries(
  PACKAGE_FORMATS.map((format) => [
    `${format}_size_max`,
    field(`Maximum size of a file of a ${format} package; by default, packages.size_max.`, asBytes),
  ]),
) as Readonly<Record<SizeKey, Field<number>>>

/** Fields by section and key: `section.key` in the file, variable `GATEHOUSE_SECTION_KEY`. */
export const SCHEMAS = {
  data: {
    dir: field('Folder of the repositories, the database, caches and keys.', asText, './data'),
    disk_free_min: field(
      'Writes are refused while a disk of the data has less free space; 0: only when it is full.',
      asBytes,
      '64MiB',
    ),
  },
  http: {
    listen: field('Address and port to listen on, or a list of them.', asListen, '127.0.0.1:3000'),
    tls_certificate: field(
      'PEM file of the certificate and its chain, with which the gateway serves HTTPS.',
      asText,
    ),
    tls_key: field('PEM file of the private key, without a passphrase.', asText),
    redirect_listen: field(
      'Addresses and ports that redirect HTTP to http.base_url.',
      asList(asHostPort),
      [],
    ),
    base_url: field(
      'URL in clone addresses and the API, which may have a path; by default derived from http.listen.',
      asUrl('http:', 'https:'),
    ),
    workers: field(
      'Number of gateway processes that share the port; by default, one per CPU.',
      asCount(1),
    ),
    upstream: field(
      'URL to which requests without a native route are forwarded; by default, they get 404.',
      asUrl('http:', 'https:'),
    ),
    trusted_proxies: field(
      'Proxies whose X-Forwarded-For and X-Forwarded-Proto headers are trusted.',
      asAddresses,
      ['127.0.0.1', '::1'],
    ),
    sendfile: field(
      'Lets nginx send large files of data.dir: "nginx:" and the path of an internal location.',
      asSendfileTarget,
    ),
    drain: field(
      'Time after SIGTERM during which new connections are still accepted.',
      asDurationMs,
      '2s',
    ),
    shutdown_grace: field(
      'Maximum time after http.drain for running clones, pushes and uploads to finish.',
      asDurationMs,
      '30s',
    ),
  },
  database: {
    url: field(
      'sqlite:PATH or mysql://user:password@host:port/name; by default gatehouse.db in data.dir.',
      asDatabaseLocation,
    ),
    connections_max: field(
      'Maximum number of connections of a worker to a MySQL server.',
      asCount(1),
      10,
    ),
  },
  blobs: {
    url: field(
      'file:PATH or s3://key:secret@host/bucket?region=us-east-1; by default blobs in data.dir.',
      asBlobLocation,
    ),
    redirect: field(
      'Redirect downloads to S3, which clients must be able to reach.',
      asBoolean,
      false,
    ),
  },
  git: {
    processes_max: field(
      'Maximum number of Git processes, over all workers; by default, four per CPU, at least 8.',
      asCount(1),
    ),
    queue_max: field(
      'Maximum number of Git requests that wait for a process, over all workers.',
      asCount(0),
      256,
    ),
    client_processes_max: field(
      'Limit of running and waiting Git requests of a client, over all workers; by default, none.',
      asCount(1),
    ),
    queue_timeout: field(
      'Maximum time that a Git request waits for a process.',
      asDurationMs,
      '30s',
    ),
    anonymous_clone_max: field(
      'Size above which only signed-in users may clone and fetch; by default, no limit.',
      asBytes,
    ),
    allow_password: field(
      'Accept account passwords in place of access tokens for Git over HTTPS.',
      asBoolean,
      false,
    ),
    push_max_bytes: field('Maximum size of the pack of a push.', asBytes, '4GiB'),
    timeout: field('Maximum duration of a clone or push.', asDurationMs, '2h'),
    memory_max: field('Memory limit of a Git process; a push has half of it.', asBytes, '512MiB'),
  },
  cache: {
    dir: field(
      'Folder of the pack cache; by default `cache` in `data.dir`. If gateways on several machines share `data.dir`, each keeps its cache on a disk of its own here.',
      asText,
    ),
    disk_max: field(
      'Maximum size of the pack cache on disk; 0: nothing is stored.',
      asBytes,
      '10GiB',
    ),
    disk_free: field('Minimum free space that the pack cache leaves on its disk.', asBytes, '1GiB'),
    memory_max: field(
      'Maximum size of the pack cache in the memory of each worker.',
      asBytes,
      '128MiB',
    ),
  },
  maintenance: {
    enabled: field(
      'Repack repositories in the background, which keeps clones cheap.',
      asBoolean,
      true,
    ),
    delay: field(
      'Delay of maintenance after a push; one run covers all pushes during the delay.',
      asDurationMs,
      '10s',
    ),
    jobs_max: field(
      'Maximum number of concurrent maintenance jobs of a machine; each worker runs at most one.',
      asCount(1),
      1,
    ),
    prune_grace: field(
      'Minimum age of unreachable objects that pruning removes.',
      asDurationMs,
      '336h',
    ),
    prune_every: field(
      'Interval at which each repository is pruned; by default, never.',
      asDurationMs,
    ),
  },
  backup: {
    dir: field('Folder to which the server adds backups; by default, it makes none.', asText),
    every: field(
      'Interval of backups; gatehouse doctor reports a last good one that is older than two.',
      asIntervalMs,
      '24h',
    ),
    at: field('Time of day, in UTC, at which the first interval begins.', asTimeOfDayMs, '03:00'),
    keep: field('Number of backups that stay in the folder.', asCount(1), 14),
  },
  web: {
    enabled: field('Serve web pages; by default, only if http.upstream is not set.', asBoolean),
  },
  actions: {
    enabled: field(
      'Permit workflows in repositories that enable them; if false, their pages get 404.',
      asBoolean,
      true,
    ),
    runs_waiting_max: field(
      'Maximum number of waiting workflow runs of a repository; further events start none.',
      asCount(1),
      500,
    ),
    artifact_size_max: field('Maximum size of an artifact of a workflow run.', asBytes, '2GiB'),
    artifacts_repository_max: field(
      'Maximum total size of the artifacts of a repository.',
      asBytes,
      '10GiB',
    ),
    artifacts_owner_max: field(
      'Maximum total size of the artifacts of an owner; by default, no limit.',
      asBytes,
    ),
    artifact_retention_days: field(
      'Days after which artifacts are deleted, unless their job names another number.',
      asCount(1),
      30,
    ),
    artifact_retention_days_max: field(
      'Maximum number of days that a job can name.',
      asCount(1),
      90,
    ),
  },
  packages: {
    enabled: field('Serve package registries; if false, their paths get 404.', asBoolean, true),
    size_max: field('Maximum size of a package file; by default, no limit.', asBytes),
    ...SIZE_FIELDS,
    owner_size_max: field(
      'Maximum total size of the package files of an owner; by default, no limit.',
      asBytes,
    ),
    owner_versions_max: field(
      'Maximum number of package versions of an owner; by default, no limit.',
      asCount(1),
    ),
    index_kept: field(
      'Time for which replaced index files can still be downloaded by their digest.',
      asDurationMs,
      '1h',
    ),
    debian_index_valid: field(
      'Time after which apt refuses an outdated copy of a Debian index; by default, no limit.',
      asValidityMs,
    ),
    debian_signing_key: field(
      'Type of new keys that sign Debian indexes: rsa4096, or ed25519, which some clients refuse.',
      asOneOf(DEBIAN_KEY_TYPES),
      'rsa4096',
    ),
  },
  outbound: {
    allow: field(
      'Internal hosts and networks that webhooks and migrations may call; others must be public.',
      asHosts,
      [],
    ),
  },
  webhooks: {
    timeout: field('Maximum time for a receiver to answer.', asDurationMs, '5s'),
    retry_after: field(
      'Delays before the attempts to repeat a failed delivery; after the last one it is given up.',
      asList(asDurationMs),
      ['30s', '2m', '15m', '1h', '6h'],
    ),
    kept: field('Time for which finished deliveries are kept.', asDurationMs, '168h'),
    deliveries_max: field('Maximum number of concurrent deliveries of a machine.', asCount(1), 4),
  },
  migrations: {
    enabled: field('Permit migrations of repositories from other servers.', asBoolean, true),
    mirrors: field(
      'Permit new mirrors, which are updated regularly from their source.',
      asBoolean,
      true,
    ),
    size_max: field(
      'Maximum size of a migrated repository, and of an update of a mirror.',
      asBytes,
      '4GiB',
    ),
    timeout: field('Maximum duration of a migration.', asDurationMs, '1h'),
    idle_timeout: field('Maximum time without data from the source.', asDurationMs, '2m'),
    mirror_interval: field(
      'Interval at which mirrors are updated, unless their owners set another one.',
      asDurationMs,
      '8h',
    ),
    items_max: field(
      'Maximum number of issues, comments and similar items of a migration.',
      asCount(1),
      100_000,
    ),
    mirror_interval_min: field(
      'Minimum update interval that owners can set for a mirror.',
      asDurationMs,
      '10m',
    ),
  },
  attachments: {
    size_max: field(
      'Maximum size of an attachment of a release, an issue or a comment; larger uploads get 413.',
      asBytes,
      '2GiB',
    ),
  },
  lfs: {
    enabled: field('Serve Git LFS; if false, its paths get 404.', asBoolean, true),
    size_max: field('Maximum size of an object of Git LFS.', asBytes, '5GiB'),
    owner_size_max: field(
      "Maximum total size of the LFS objects of an owner's repositories; by default, no limit.",
      asBytes,
    ),
  },
  metrics: {
    allow: field('Addresses that may read /metrics.', asAddresses, ['127.0.0.1', '::1']),
    token: field('Bearer token with which /metrics can be read from any address.', asText),
  },
  ssh: {
    listen_host: field('Host in SSH clone URLs; by default, the host of http.base_url.', asText),
    port: field('Port in SSH clone URLs.', asPort, 22),
    user: field('User in SSH clone URLs.', asText, 'git'),
    socket: field(
      'Socket for requests of sshd; by default run/ssh.sock in data.dir. At most 107 bytes.',
      asText,
    ),
  },
  audit: {
    kept_days: field('Days for which entries of the audit log are kept.', asCount(1), 365),
  },
  log: {
    level: field('Minimum severity of written log lines.', asOneOf(LOG_LEVELS), 'info'),
    format: field(
      'json, text, or auto: text on a terminal, else JSON.',
      asOneOf(LOG_FORMATS),
      'auto',
    ),
  },
} as const
