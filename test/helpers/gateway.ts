/** Gateway in the test's process, whose database and log are accessible. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino, stdSerializers } from 'pino'
import { openJournal } from '../../cgi/maintenance/journal.js'
import { KeptObjects } from '../../cgi/objects/kept-objects.js'
import { findGit, type Git } from '../../cgi/process/git.js'
import { findXz } from '../../cgi/process/xz.js'
import type { DatabaseLocation } from '../../conf/database-location.js'
import { loadSettings } from '../../conf/load.js'
import type { Log } from '../../conf/log.js'
import type { Settings } from '../../conf/settings.js'
import { createLocalThrottle } from '../../gateway/auth/throttle.js'
import { hashToken, newToken } from '../../gateway/auth/token.js'
import { createUpkeep } from '../../gateway/jobs/upkeep.js'
import { createProcessQueue } from '../../gateway/packs/process-queue.js'
import { createLocalCoordinator, createPackCache } from '../../gateway/packs/warm.js'
import { inspectIn } from '../../gateway/pool/inspect.js'
import { matchPatternsIn } from '../../gateway/pool/match-patterns.js'
import { openpgpIn } from '../../gateway/pool/openpgp.js'
import { planIn } from '../../gateway/pool/plan.js'
import { createPools } from '../../gateway/pool/pools.js'
import { createRenderings } from '../../gateway/pool/renderings.js'
import { readFilesIn } from '../../gateway/pool/repository-files.js'
import { shrinkIn } from '../../gateway/pool/shrink.js'
import type { Context } from '../../gateway/request/context.js'
import { watchDisks } from '../../gateway/request/disk-watch.js'
import { createEvents } from '../../gateway/request/events.js'
import { createMetrics } from '../../gateway/request/metrics.js'
import { createPushRecovery } from '../../gateway/request/push-recovery.js'
import { type Server, startServer } from '../../gateway/server.js'
import { subscribeAll } from '../../gateway/subscribe.js'
import { openRegistry } from '../../registry/registry.js'
import type { Visibility } from '../../sql/accounts/owners.js'
import type { TokenLimits } from '../../sql/accounts/token-limits.js'
import { createToken, type Token, type NewToken as TokenFields } from '../../sql/accounts/tokens.js'
import { createUser, type User } from '../../sql/accounts/users.js'
import { closeDatabase, type Database, openDatabase } from '../../sql/database/database.js'
import { createOrganization, type Organization } from '../../sql/organizations/organizations.js'
import { passwordHashOf } from './passwords.js'
import { type Answer, ask, type RequestOptions } from './requests.js'
import { copySqliteTemplate } from './templates.js'

/** Base URL of links in every test, so that expected files do not depend on a port. */
export const BASE_URL = 'http://code.example.com'

/** Limits of the git processes of a context without a listener. */
const BOUNDS = { runningMax: 4, waitingMax: 4, waitMs: 60_000, clientMax: 8 }

interface Teardown {
  teardown(action: () => Promise<unknown>): void
}

export interface GatewayOptions {
  /** Git program; by default the one of this system. */
  readonly git?: Git
  /** Database; by default SQLite in the data folder. */
  readonly location?: DatabaseLocation
  /** Settings by variable. */
  readonly environment?: Readonly<Record<string, string>>
}

export interface Fixture {
  readonly settings: Settings
  readonly db: Database
  readonly log: Log
  /** Parsed log lines so far. */
  readonly lines: ReadonlyArray<Readonly<Record<string, unknown>>>
  addUser(name: string, options?: { readonly isAdmin?: boolean }): Promise<User>
  addOrganization(name: string, creator: User, visibility?: Visibility): Promise<Organization>
  addToken(user: User, ...scopes: readonly string[]): Promise<NewToken>
  /** Creates a token with limits; omitted ones do not apply. */
  addLimitedToken(
    user: User,
    limits: Partial<TokenLimits>,
    ...scopes: readonly string[]
  ): Promise<NewToken>
}

export interface NewToken {
  /** The token itself, which its owner sees only once. */
  readonly plain: string
  readonly token: Token
}

export interface Gateway extends Fixture {
  readonly server: Server
  readonly port: number
  ask(request: RequestOptions): Promise<Answer>
}

/** The git of this machine, which all tests of a process use: its search runs git twice. */
const installedGit = findGit()

/** Threads of all gateways of a process, because a thread loads its modules for half a second. */
const pools = createPools(() => {})

/** Starts a gateway with its listener for the test. */
export async function startGateway(t: Teardown, options: GatewayOptions = {}): Promise<Gateway> {
  const fixture = await openFixture(t, options)
  const { settings, log } = fixture
  const git = options.git ?? (await installedGit)
  const createThrottle = createLocalThrottle
  const server = await startServer({ settings, log, git, pools, createThrottle })
  t.teardown(() => server.stop())
  const { port } = server
  return { ...fixture, server, port, ask: (request) => ask(port, request) }
}

/** Creates the context of handlers, without a listener. */
export async function openContext(
  t: Teardown,
  options: GatewayOptions = {},
): Promise<{ readonly context: Context; readonly fixture: Fixture }> {
  const fixture = await openFixture(t, options)
  const { settings, log, db } = fixture
  const git = options.git ?? (await installedGit)
  const queue = createProcessQueue(() => BOUNDS)
  const link = createLocalCoordinator(settings.cache.dir)
  const journal = await openJournal(settings.data.dir)
  const pushRecovery = createPushRecovery(settings.data.dir, log)
  const inspect = inspectIn(pools.uploads)
  const registry = await openRegistry({
    settings: () => settings,
    db,
    log,
    inspect,
    matchPatterns: matchPatternsIn(pools.uploads),
    digest: pools.digests.start,
    compressXz: findXz(),
  })
  t.teardown(() => registry.stop())
  const disk = watchDisks({ settings: () => settings, log })
  const objects = new KeptObjects(git)
  t.teardown(async () => objects.stop())
  const metrics = createMetrics()
  const context: Context = {
    settings,
    log,
    db,
    disk,
    git,
    objects,
    queue,
    journal,
    pushRecovery,
    registry,
    packCache: createPackCache({ git, log, queue, settings: () => settings, link }),
    upkeep: createUpkeep({ settings, log, db, disk, git, journal, registry, pushRecovery }),
    events: createEvents(log),
    throttle: createLocalThrottle(),
    metrics,
    renderings: createRenderings({ pool: pools.pages, log }),
    shrinkPicture: shrinkIn(pools.uploads),
    openpgp: openpgpIn(pools.pages),
    ...planIn(pools.uploads),
    ...readFilesIn(pools.pages),
    collectMetrics: () => metrics.registry.metrics(),
  }
  subscribeAll(context)
  return { context, fixture }
}

async function openFixture(t: Teardown, options: GatewayOptions): Promise<Fixture> {
  const dataDir = await mkdtemp(join(tmpdir(), 'gatehouse-'))
  t.teardown(() => rm(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 }))
  const settings = settingsOf(dataDir, options)
  const { location } = settings.database
  if (location.kind === 'sqlite' && options.location === undefined) {
    await copySqliteTemplate(location.file)
  }
  const db = await openDatabase(settings.database)
  t.teardown(() => closeDatabase(db))
  const lines: Record<string, unknown>[] = []
  const log = pino(
    { level: 'debug', base: null, serializers: { error: stdSerializers.err } },
    { write: (line: string) => lines.push(JSON.parse(line)) },
  )
  return {
    settings,
    db,
    log,
    lines,
    addUser: async (name, { isAdmin = false } = {}) =>
      createUser(db, {
        name,
        isAdmin,
        email: `${name.toLowerCase()}@example.com`,
        passwordHash: await passwordHashOf(name),
      }),
    addOrganization: (name, creator, visibility = 'public') =>
      createOrganization(db, {
        name,
        visibility,
        creatorId: creator.id,
        fullName: '',
        email: '',
        description: '',
        website: '',
        location: '',
        repoAdminChangeTeamAccess: false,
      }),
    addToken: (user, ...scopes) => addToken(db, { user, scopes }),
    addLimitedToken: (user, limits, ...scopes) =>
      addToken(db, { user, scopes, limits: { ...UNLIMITED, ...limits } }),
  }
}

const UNLIMITED: TokenLimits = { expiresAtMs: undefined, addresses: [], reach: undefined }

async function addToken(
  db: Database,
  { user, ...token }: { readonly user: User } & Pick<TokenFields, 'scopes' | 'limits'>,
): Promise<NewToken> {
  const plain = newToken()
  const hash = hashToken(plain)
  const [name, lastEight] = [`token ${plain.slice(0, 8)}`, plain.slice(-8)]
  const made = await createToken(db, { userId: user.id, name, hash, lastEight, ...token })
  return { plain, token: made }
}

function settingsOf(dataDir: string, { location, environment }: GatewayOptions): Settings {
  return loadSettings({
    GATEHOUSE_CONFIG: undefined,
    GATEHOUSE_DATA_DIR: dataDir,
    GATEHOUSE_HTTP_LISTEN: '127.0.0.1:0',
    GATEHOUSE_HTTP_BASE_URL: BASE_URL,
    GATEHOUSE_HTTP_DRAIN: '0s',
    GATEHOUSE_HTTP_SHUTDOWN_GRACE: '2s',
    GATEHOUSE_MAINTENANCE_ENABLED: 'false',
    // Outbound requests of tests go to servers of the tests.
    GATEHOUSE_OUTBOUND_ALLOW: '127.0.0.1',
    // The default, an RSA key, takes half a second of CPU time for each owner.
    GATEHOUSE_PACKAGES_DEBIAN_SIGNING_KEY: 'ed25519',
    // Tests must not depend on the free space of this machine.
    GATEHOUSE_CACHE_DISK_FREE: '16MiB',
    GATEHOUSE_DATA_DISK_FREE_MIN: '0',
    ...(location?.kind === 'mysql' ? { GATEHOUSE_DATABASE_URL: location.url.href } : {}),
    ...(location?.kind === 'sqlite' ? { GATEHOUSE_DATABASE_URL: `sqlite:${location.file}` } : {}),
    ...environment,
  })
}
