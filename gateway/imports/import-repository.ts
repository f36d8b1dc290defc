/** Import of a repository from another server, in whole or not at all. */

import { processSpace } from '../../cgi/process/process-space.js'
import { markProcess } from '../../cgi/process/process-table.js'
import { newStorageKey, repositoryPath } from '../../cgi/repository/paths.js'
import { removeRepository } from '../../cgi/repository/repository.js'
import { cloneRepository, type RemoteSource } from '../../cgi/transfer/clone.js'
import { type Remote, RemoteError } from '../../cgi/transfer/remote.js'
import { Failure } from '../../conf/failures.js'
import { parseRepositoryName } from '../../conf/names.js'
import type { Owner } from '../../sql/accounts/owners.js'
import type { ImportedLfs } from '../../sql/repositories/lfs-objects.js'
import { findRepository, type Repository } from '../../sql/repositories/repositories.js'
import {
  beginImport,
  completeImport,
  endImport,
  renewImport,
} from '../../sql/repositories/repository-imports.js'
import type { NewMirror } from '../../sql/repositories/repository-sources.js'
import { wikiOf, wikiStorage } from '../../sql/repositories/wikis.js'
import { applyPushEffects } from '../actions/code/push-effects.js'
import { boundsOf, type RemoteInput, resolveRemote } from '../outbound/git-remote.js'
import { sealCredentials } from '../outbound/mirror-credentials.js'
import type { Context } from '../request/context.js'
import { markerOf } from '../request/repository-markers.js'
import { type ContentsImport, openContentsImport } from './arriving.js'
import type { ContentsInput } from './gather-contents.js'
import { importLfs } from './import-lfs.js'
import { importWiki } from './import-wiki.js'

export interface ImportInput {
  readonly owner: Owner
  readonly name: string
  readonly description: string
  readonly isPrivate: boolean
  /** Clone address over http or https, without credentials. */
  readonly url: URL
  readonly authorization: string | undefined
  /** Update interval of a mirror; absent for a repository that is independent of its source. */
  readonly mirror: { readonly intervalMs: number } | undefined
  /** True to import the wiki too, if the source has one; updates of a mirror fetch it as well. */
  readonly hasWiki: boolean
  /** Server of the objects of Git LFS to import; undefined to import pointers alone. */
  readonly lfs: RemoteInput | undefined
  /** Contents to import through the source's API; undefined for Git data alone. */
  readonly contents: (ContentsInput & { readonly authorId: number }) | undefined
}

/** Client of an import. */
export interface Importer {
  /** Aborts the import. */
  readonly signal: AbortSignal
  readonly address: string
  /** See `auth/client`. */
  readonly client: string
}

/** Time for which an import keeps its name after its process died on another machine. */
const LEASE_MS = 30_000
const RENEWALS = 3

/**
 * Imports a repository and returns it. Throws `invalid` for a bad name, a host that may not be
 * called and every error of the source, and `conflict` for a name that exists.
 */
export async function importRepository(
  context: Context,
  importer: Importer,
  input: ImportInput,
): Promise<Repository> {
  const name = parseRepositoryName(input.name)
  if ((await findRepository(context.db, input.owner.name, name)) !== undefined) {
    throw new Failure('conflict', 'The repository with the same name already exists.')
  }
  const hosts = new Set([input, ...(input.lfs === undefined ? [] : [input.lfs])].map(hostOf))
  const attempts = [...hosts].map((host) => ({
    name: `import from ${host}`,
    address: importer.address,
  }))
  for (const attempt of attempts) await context.throttle.check(attempt)
  const remote = await resolveRemote(context, input)
  if (input.lfs !== undefined) await resolveRemote(context, input.lfs)
  const storage = newStorageKey()
  const { id, stopRenewing } = await begin(context, { ...input, name, storage })
  try {
    return await carryOut(context, importer, { ...input, id, name, storage, remote })
  } catch (error) {
    context.pushRecovery.recoverPushes()
    await endImport(context.db, id)
    throw await refusalOf(context, error, attempts)
  } finally {
    stopRenewing()
  }
}

function hostOf({ url }: Pick<RemoteInput, 'url'>): string {
  return url.host
}

async function begin(
  { db, log }: Context,
  input: Pick<ImportInput, 'owner' | 'name'> & { readonly storage: string },
) {
  const id = await beginImport(db, {
    ownerId: input.owner.id,
    name: input.name,
    storage: input.storage,
    machine: processSpace(),
    process: JSON.stringify(markProcess(process.pid)),
    leaseMs: LEASE_MS,
  })
  const renew = () =>
    renewImport(db, id, LEASE_MS).catch((error: unknown) =>
      log.warn({ error }, 'the lease of a migration was not renewed'),
    )
  const timer = setInterval(() => void renew(), LEASE_MS / RENEWALS).unref()
  return { id, stopRenewing: () => clearInterval(timer) }
}

interface Begun extends ImportInput {
  readonly id: number
  readonly storage: string
  readonly remote: Remote
}

async function carryOut(context: Context, importer: Importer, begun: Begun): Promise<Repository> {
  const { contents, id: importId } = begun
  if (contents === undefined) return await take(context, importer, { begun, arriving: undefined })
  const input = { ...begun, contents, importId, signal: importer.signal }
  const arriving = await openContentsImport(context, input)
  try {
    return await take(context, importer, { begun, arriving })
  } finally {
    await arriving.close()
  }
}

interface Taking {
  readonly begun: Begun
  readonly arriving: ContentsImport | undefined
}

async function take(
  context: Context,
  importer: Importer,
  { begun, arriving }: Taking,
): Promise<Repository> {
  const { id, storage } = begun
  const { dir } = context.settings.data
  const path = repositoryPath(dir, storage)
  const wikiPath = repositoryPath(dir, wikiStorage(storage))
  const cloned = await fetchAll(context, importer, { begun, arriving, path })
  try {
    const hasWiki = begun.hasWiki && (await fetchWiki(context, importer, { begun, path }))
    const contents = await arriving?.settle(path)
    const lfs = cloned.isEmpty ? undefined : await fetchLfs(context, importer, { begun, path })
    const { defaultBranch, objectFormat, isEmpty } = cloned
    const repository = await completeImport(context.db, id, {
      repository: {
        ownerId: begun.owner.id,
        name: begun.name,
        storage,
        description: begun.description,
        isPrivate: begun.isPrivate,
        isTemplate: false,
        isEmpty,
        defaultBranch,
        objectFormat,
        website: '',
        preferences: {},
      },
      source: { url: begun.url.href, mirror: await mirrorOf(context, begun) },
      contents,
      lfs,
    })
    if (!isEmpty) await applyPushEffects(context, repository, path)
    if (hasWiki) await applyPushEffects(context, wikiOf(repository), wikiPath)
    return (await findRepository(context.db, begun.owner.name, repository.name)) ?? repository
  } catch (error) {
    await removeRepository(path)
    await removeRepository(wikiPath)
    throw error
  }
}

/** Fetches contents and Git data, which together take one slot of the process queue. */
async function fetchAll(
  { settings, queue, git, journal }: Context,
  { signal, client }: Importer,
  { begun, arriving, path }: Taking & { readonly path: string },
) {
  const leave = await queue.enter(signal, { repository: path, client })
  try {
    await arriving?.gather()
    const source: RemoteSource = { ...boundsOf(settings), remote: begun.remote, signal, journal }
    const hasPulls = arriving?.hasPulls ?? false
    return await cloneRepository(git, path, { ...source, hasPulls, marker: markerOf(begun) })
  } finally {
    leave()
  }
}

/** Fetches the wiki; returns true if the source has one. */
async function fetchWiki(
  context: Context,
  { signal, client }: Importer,
  { begun, path }: { readonly begun: Begun; readonly path: string },
): Promise<boolean> {
  const leave = await context.queue.enter(signal, { repository: path, client })
  try {
    const { journal, settings } = context
    const source = { ...boundsOf(settings), remote: begun.remote, signal, journal }
    return await importWiki(context, { ...begun, source })
  } finally {
    leave()
  }
}

/** Fetches the objects of Git LFS; returns undefined if they are not wanted. */
async function fetchLfs(
  context: Context,
  { signal, client }: Importer,
  { begun, path }: { readonly begun: Begun; readonly path: string },
): Promise<ImportedLfs | undefined> {
  const { lfs, id: importId, owner } = begun
  if (lfs === undefined) return undefined
  const leave = await context.queue.enter(signal, { repository: path, client })
  try {
    return await importLfs(context, { ...lfs, path, importId, ownerId: owner.id, signal })
  } finally {
    leave()
  }
}

async function mirrorOf(
  { settings }: Context,
  { mirror, authorization, storage, hasWiki, lfs }: Begun,
): Promise<NewMirror | undefined> {
  if (mirror === undefined) return undefined
  const place = { dataDir: settings.data.dir, storage }
  const lfsSealed = await sealCredentials(place, lfs?.authorization)
  return {
    intervalMs: mirror.intervalMs,
    credentialsSealed: await sealCredentials(place, authorization),
    hasWiki,
    lfs: lfs && { url: lfs.url.href, credentialsSealed: lfsSealed },
  }
}

/**
 * Converts an error of the source. Failed sign-ins at the source are throttled, so that clients
 * cannot guess passwords of another server through this one.
 */
async function refusalOf(
  { throttle, log }: Context,
  error: unknown,
  attempts: ReadonlyArray<{ readonly name: string; readonly address: string }>,
): Promise<unknown> {
  if (!(error instanceof RemoteError)) return error
  for (const attempt of attempts) {
    log.warn(
      { event: 'import-failed', address: attempt.address, fault: error.fault, what: attempt.name },
      'the import of a repository failed',
    )
    if (error.fault === 'authentication') await throttle.failed(attempt)
  }
  return new Failure('invalid', messageOf(error), { cause: error })
}

function messageOf({ fault, message }: RemoteError): string {
  switch (fault) {
    case 'authentication':
      return `Authentication failed: ${message}.`
    case 'rate-limit':
      return 'Remote visit addressed rate limitation.'
    case 'failed':
      return `Migration failed: ${message}.`
  }
}
