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
  asUrl,
  type Field,
} from './field.js'
import { type HostSet, parseHostSet } from './host-set.js'
import { LOG_FORMATS, LOG_LEVELS } from './log.js'
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

type SizeKey = `${PackageFormat}_size_max`

/** Fields for the maximum file size, one for each package format. */
const SIZE_FIELDS = Object.fromEntries(
  PACKAGE_FORMATS.map((format) => [
    `${format}_size_max`,
    field(`The largest file of a package for ${format}; by default, packages.size_max.`, asBytes),
  ]),
) as Readonly<Record<SizeKey, Field<number>>>

/** Fields by section and key: `section.key` in the file, variable `GATEHOUSE_SECTION_KEY`. */
export const SCHEMAS = {
  data: {
    dir: field('The folder of repositories, database, caches and keys.', asText, './data'),
    disk_free_min: field(
      'New writes are refused while a disk of the data has less free; 0: only when it is full.',
      asBytes,
      '64MiB',
    ),
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
    drain: field('How long after SIGTERM connections are accepted.', asDurationMs, '2s'),
    shutdown_grace: field(
      'How long running clones, pushes and uploads may go on after that.',
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
    processes_max: field('Git services that run at once; by default four a CPU.', asCount(1)),
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
    allow_password: field(
      'Whether Git over HTTPS takes the password of an account in place of an access token.',
      asBoolean,
      false,
    ),
    push_max_bytes: field('The largest pack that a push may send.', asBytes, '4GiB'),
    timeout: field('The longest that one clone or push may take.', asDurationMs, '2h'),
    memory_max: field('Memory of one git process; a push has half of it.', asBytes, '512MiB'),
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
    prune_grace: field('How long pruning keeps unreachable objects.', asDurationMs, '336h'),
    prune_every: field('How often each repository is pruned; by default, never.', asDurationMs),
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
    ...SIZE_FIELDS,
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
      'json, text, or auto: text on a terminal, else JSON.',
      asOneOf(LOG_FORMATS),
      'auto',
    ),
  },
} as const
