/** Routes whose changes are in the audit log, and the names of these changes. */

import type { AnyRoute } from './route.js'

/** Kinds of things, by the paths that change them; the first that fits counts. */
const KINDS: ReadonlyArray<readonly [kind: string, path: RegExp]> = [
  ['secret', /\/actions\/secrets(?:\/|$)/],
  ['variable', /\/actions\/variables(?:\/|$)/],
  ['runner', /\/actions\/runners(?:\/|$)/],
  ['workflow', /^\/repos\/[^ ]+\/actions\/workflows\/\{workflow_id\}\/(?:en|dis)able$/],
  ['workflow', /^\/\{owner\}\/\{repo\}\/actions\/workflows$/],
  ['run', /^\/repos\/\{owner\}\/\{repo\}\/actions\/runs\/\{run\}$/],
  ['run_approval', /\/actions\/runs\/\{(?:run|number)\}\/approve$/],
  ['artifact', /^DELETE \/repos\/\{owner\}\/\{repo\}\/actions\/artifacts\/\{artifact_id\}$/],
  ['webhook', /\/hooks(?:\/\{id\}(?:\/delete)?)?$/],
  ['push_mirror', /\/push_mirrors(?:\/\{name\})?$/],
  ['deploy_key', /^\/repos\/\{owner\}\/\{repo\}\/keys(?:\/|$)|\}\/settings\/keys(?:\/|$)/],
  ['ssh_key', /^(?:\/user|\/admin\/users\/\{username\}|\/user\/settings)\/keys(?:\/|$)/],
  ['gpg_key', /^\/user\/(?:gpg_key|settings\/gpg)/],
  ['token', /^\/users\/\{username\}\/tokens|^\/user\/settings\/applications/],
  ['oauth_grant', /^\/login\/oauth\/authorize$|^\/user\/settings\/oauth2\/revoke$/],
  ['oauth_application', /^\/user\/(?:applications|settings)\/oauth2/],
  ['session', /^\/user\/settings\/sessions\//],
  ['second_factor', /\/settings\/security\/(?:confirm|recovery-codes|disable|keys\/[a-z]+)$/],
  ['password', /\/(?:settings|\{username\})\/password$/],
  ['email', /^\/user\/emails$/],
  ['block', /\/blocks\/\{username\}$|\/settings\/blocked_users(?:\/remove)?$/],
  ['branch_protection', /\/branch_protections(?:\/|$)/],
  ['tag_protection', /\/tag_protections(?:\/|$)/],
  ['collaborator', /\/collaborators\/|\/settings\/collaboration/],
  ['repository_team', /^\/repos\/\{owner\}\/\{repo\}\/teams\/|^\/teams\/\{id\}\/repos\//],
  ['repository_team', /^\/org\/\{org\}\/teams\/\{team\}\/repositories/],
  ['team_member', /^\/teams\/\{id\}\/members\/|^\/org\/\{org\}\/teams\/\{team\}\/members/],
  ['team', /^\/orgs\/\{org\}\/teams$|^\/teams\/\{id\}$/],
  ['team', /^\/org\/\{org\}\/teams\/(?:new|\{team\}\/settings)/],
  ['member', /^\/orgs\/\{org\}\/members\/|^\/org\/\{org\}\/members\/(?:remove|leave)$/],
  ['transfer', /\/transfer(?:\/|$)/],
  ['repository', /^\/repos\/\{owner\}\/\{repo\}(?:\/forks|\/prune)?$|\/(?:generate|migrate)$/],
  ['repository', /^\/(?:user|orgs?\/\{org\}|admin\/users\/\{username\})\/repos$|^\/repo\/create$/],
  ['repository', /^\/\{owner\}\/\{repo\}\/settings(?:\/delete|\/prune)?$/],
  ['organization', /^\/orgs(?:\/\{org\}(?:\/rename)?)?$|^\/org\/(?:create|\{org\}\/settings)/],
  ['organization', /^\/admin\/users\/\{username\}\/orgs$/],
  ['cleanup_rule', /\/cleanup-rules\/\{type\}$|\/settings\/rules\/\{type\}(?:\/delete)?$/],
  ['package_link', /\/-\/(?:link\/\{repo_name\}|(?:un)?link)$/],
  ['package_protection', /\/(?:-|settings)\/protections(?:\/|$)/],
  ['package_settings', /\/-\/(?:packages\/)?settings$/],
  ['package_quota', /^\/admin\/packages\/\{owner\}\/quota$/],
  ['issue', /^DELETE \/repos\/\{owner\}\/\{repo\}\/issues\/\{index\}$/],
  ['release', /^DELETE \/repos\/\{owner\}\/\{repo\}\/releases\/(?:\{id\}$|tags\/)/],
  ['package', /^DELETE \/packages\/|^\/\{owner\}\/-\/packages\/.*\/-\/delete$/],
  ['registration', /^\/admin\/settings\/registration$/],
  ['user', /^\/admin\/users(?:\/\{username\}(?:\/rename|\/delete)?)?$/],
  ['user', /^\/user\/(?:sign_up|settings|settings\/profile)$|^\/setup$/],
]

/** Kinds of things of which a PUT adds one. */
const ADDED_BY_PUT = /^(?:block|team_member|repository_team)$/

const DELETES = /\/(?:delete|delete-others|remove|leave|revoke|unlink|security\/disable)$/
const CHANGES =
  /\/(?:rename|settings|profile|password|prune|priority|accept|reject|quota|registration|workflows|actions\/runners|secrets|collaboration)$/

/**
 * Returns the name of the change that a route makes, such as `ssh_key.create`. Returns undefined
 * for a route whose changes are not in the audit log: reads, contents of repositories, issues.
 */
export function auditedAction({ surface, method, path }: AnyRoute): string | undefined {
  if (method === 'GET') return undefined
  if (surface.name === 'packages') return method === 'DELETE' ? 'package.delete' : undefined
  if (surface.name !== 'api' && surface.name !== 'web') return undefined
  const local = path.replace(/^\/api\/v1/, '')
  const names = [local, `${method} ${local}`]
  const kind = KINDS.find(([, pattern]) => names.some((name) => pattern.test(name)))?.[0]
  return kind === undefined ? undefined : `${kind}.${verbOf(kind, method, local)}`
}

function verbOf(kind: string, method: AnyRoute['method'], path: string): string {
  if (method === 'DELETE' || DELETES.test(path)) return 'delete'
  if (method === 'PUT') return ADDED_BY_PUT.test(kind) ? 'create' : 'change'
  if (method === 'PATCH' || CHANGES.test(path)) return 'change'
  return /\{(?:id|username|type)\}$/.test(path) ? 'change' : 'create'
}
