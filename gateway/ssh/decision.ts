/** Decision on a command over SSH: a message to the client, or the service to run. */

import type { GitService } from '../../cgi/transfer/environment.js'
import { isFailure } from '../../conf/failures.js'
import type { Database } from '../../sql/database/database.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import type { KeyHolder } from '../auth/authenticate-key.js'
import { authorize, type Grants } from '../auth/authorize.js'
import type { Context } from '../request/context.js'
import { parseCommand } from './command.js'
import type { LfsAuthentication } from './lfs-authenticate.js'

export type Decision =
  | { readonly kind: 'greeting'; readonly sentence: string }
  | { readonly kind: 'refusal'; readonly sentence: string; readonly isRoutine?: true }
  | { readonly kind: 'run'; readonly service: GitService; readonly repository: Repository }
  | ({ readonly kind: 'lfs' } & Omit<LfsAuthentication, 'holder'>)

/** Returns the decision on a command. Throws `unavailable` if the database is unavailable. */
export async function decide(
  { db, settings }: Pick<Context, 'db' | 'settings'>,
  holder: KeyHolder,
  text: string,
): Promise<Decision> {
  const command = parseCommand(text)
  switch (command.kind) {
    case 'login':
      return { kind: 'greeting', sentence: greetingOf(holder) }
    case 'archive':
      return refuse('Gatehouse does not serve git archive --remote. Clone with --depth=1 instead.')
    case 'unknown':
      return refuse('Gatehouse serves git clone, fetch and push over SSH, and nothing else.')
    case 'lfs-transfer':
      // Each push and checkout of git-lfs tries this first.
      return { ...refuse('Gatehouse transfers LFS objects over HTTPS.'), isRoutine: true }
    case 'lfs': {
      if (!settings.lfs.isEnabled) return refuse('Git LFS is not enabled on this server.')
      const { operation } = command
      const granted = await permit(db, holder, { ...command, isPush: operation === 'upload' })
      return 'kind' in granted ? granted : { kind: 'lfs', operation, ...granted }
    }
    case 'git': {
      const { service } = command
      const isPush = service === 'git-receive-pack'
      const granted = await permit(db, holder, { ...command, isPush, mayBeWiki: true })
      return 'kind' in granted ? granted : { kind: 'run', service, ...granted }
    }
  }
}

function refuse(sentence: string): Extract<Decision, { kind: 'refusal' }> {
  return { kind: 'refusal', sentence }
}

function greetingOf({ who, name }: KeyHolder): string {
  const hello = who.kind === 'user' ? `Hello ${name}! Your` : 'Hello! This deploy'
  return `${hello} key works. Gatehouse serves git clone, fetch and push here, and no shell.`
}

interface Wanted {
  readonly owner: string
  readonly repo: string
  readonly isPush: boolean
  /** True if the repository may be a wiki. */
  readonly mayBeWiki?: true
}

/** Returns the repository that the caller may read or push to, or the refusal. */
async function permit(
  db: Database,
  holder: KeyHolder,
  wanted: Wanted,
): Promise<{ readonly repository: Repository } | Extract<Decision, { kind: 'refusal' }>> {
  const grant = await authorizeCommand(db, holder, wanted)
  if ('kind' in grant) return grant
  const { repository } = grant
  if (wanted.isPush && repository.isArchived) {
    const fullName = `${repository.owner.name}/${repository.name}`
    return refuse(`${fullName} is archived: it can be read, not pushed to.`)
  }
  return { repository }
}

/** Authorizes a command. Missing, private and forbidden repositories are refused alike. */
async function authorizeCommand(
  db: Database,
  { who }: KeyHolder,
  { owner, repo, isPush, mayBeWiki }: Wanted,
): Promise<Grants['repository'] | Extract<Decision, { kind: 'refusal' }>> {
  const access = {
    kind: 'repository',
    ...(isPush ? ({ mode: 'write', changesGit: true } as const) : ({ mode: 'read' } as const)),
    ...(mayBeWiki && { mayBeWiki }),
  } as const
  try {
    return await authorize(db, {
      who,
      access,
      scopes: [],
      params: { owner, repo },
      // A caller with a key is not anonymous.
      challenges: false,
      anonymousBytesMax: undefined,
    })
  } catch (error) {
    if (isFailure(error, 'mirrored')) return refuse(error.message)
    if (!isFailure(error, 'not_found') && !isFailure(error, 'forbidden')) throw error
    const fullName = `${owner}/${repo}`
    return refuse(
      isPush
        ? `There is no repository ${fullName} that this key may push to.`
        : unreadable(fullName),
    )
  }
}

/** Returns the refusal of a fetch from a missing repository, or one that the key may not read. */
export function unreadable(fullName: string): string {
  return `There is no repository ${fullName} that this key may read.`
}
