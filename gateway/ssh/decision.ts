/** Decision on a command over SSH: a message to the client, or the service to run. */

import type { GitService } from '../../cgi/transfer/environment.js'
import { isFailure } from '../../conf/failures.js'
import type { Database } from '../../sql/database/database.js'
import type { Repository } from '../../sql/repositories/repositories.js'
import type { KeyHolder } from '../auth/authenticate-key.js'
import { authorize, type Grants } from '../auth/authorize.js'
import { parseCommand, type SshCommand } from './command.js'

export type Decision =
  | { readonly kind: 'greeting'; readonly sentence: string }
  | { readonly kind: 'refusal'; readonly sentence: string }
  | { readonly kind: 'run'; readonly service: GitService; readonly repository: Repository }

/** Returns the decision on a command. Throws `unavailable` if the database is unavailable. */
export async function decide(db: Database, holder: KeyHolder, text: string): Promise<Decision> {
  const command = parseCommand(text)
  switch (command.kind) {
    case 'login':
      return { kind: 'greeting', sentence: greetingOf(holder) }
    case 'archive':
      return refuse('Gatehouse does not serve git archive --remote. Clone with --depth=1 instead.')
    case 'unknown':
      return refuse('Gatehouse serves git clone, fetch and push over SSH, and nothing else.')
    case 'git':
      return decideGit(db, holder, command)
  }
}

function refuse(sentence: string): Extract<Decision, { kind: 'refusal' }> {
  return { kind: 'refusal', sentence }
}

function greetingOf({ who, name }: KeyHolder): string {
  const hello = who.kind === 'user' ? `Hello ${name}! Your` : 'Hello! This deploy'
  return `${hello} key works. Gatehouse serves git clone, fetch and push here, and no shell.`
}

async function decideGit(
  db: Database,
  holder: KeyHolder,
  command: Extract<SshCommand, { kind: 'git' }>,
): Promise<Decision> {
  const { service } = command
  const grant = await authorizeCommand(db, holder, command)
  if ('kind' in grant) return grant
  const { repository } = grant
  if (service === 'git-receive-pack' && repository.isArchived) {
    const fullName = `${repository.owner.name}/${repository.name}`
    return refuse(`${fullName} is archived: it can be read, not pushed to.`)
  }
  return { kind: 'run', service, repository }
}

/** Authorizes a command. Missing, private and forbidden repositories are refused alike. */
async function authorizeCommand(
  db: Database,
  { who }: KeyHolder,
  { service, owner, repo }: Extract<SshCommand, { kind: 'git' }>,
): Promise<Grants['repository'] | Extract<Decision, { kind: 'refusal' }>> {
  const access =
    service === 'git-receive-pack'
      ? ({ kind: 'repository', mode: 'write', changesGit: true } as const)
      : ({ kind: 'repository', mode: 'read' } as const)
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
    const act = service === 'git-receive-pack' ? 'push to' : 'read'
    return refuse(`There is no repository ${owner}/${repo} that this key may ${act}.`)
  }
}
