/** Details of an entry of the audit log: parameters and fields of a request, without secrets. */

/** Fields whose values are recorded. Of all others, only the names are. */
const SHOWN_FIELDS: ReadonlySet<string> = new Set([
  'active',
  'admin',
  'archived',
  'branch_filter',
  'branch_name',
  'default_branch',
  'events',
  'is_admin',
  'is_prohibited',
  'login_name',
  'mode',
  'name',
  'name_pattern',
  'new_name',
  'new_owner',
  'new_username',
  'org',
  'organization',
  'owner',
  'permission',
  'private',
  'prohibit_login',
  'read_only',
  'registration',
  'repository',
  'restricted',
  'role',
  'rule_name',
  'scopes',
  'team',
  'team_ids',
  'title',
  'type',
  'user',
  'user_name',
  'username',
  'visibility',
])

/** Parameters of the path that the entry has as its subject. */
const SUBJECT_PARAMS: ReadonlySet<string> = new Set(['owner', 'repo', 'org'])

const VALUE_CHARACTERS_MAX = 100
const FIELDS_MAX = 40

interface SentBody {
  /** Content-Type, which may be empty. */
  readonly type: string
  readonly body: string
}

/** Returns the details as text, such as `id=7, title=laptop, key`. */
export function auditedDetails(params: Readonly<Record<string, string>>, sent: SentBody): string {
  const named = Object.entries(params).filter(([name]) => !SUBJECT_PARAMS.has(name))
  const fields = fieldsOf(sent)
    .slice(0, FIELDS_MAX)
    .map(([name, value]) =>
      SHOWN_FIELDS.has(name) ? written(name, value) : name.slice(0, VALUE_CHARACTERS_MAX),
    )
  return [...named.map(([name, value]) => written(name, value)), ...fields].join(', ')
}

function fieldsOf({ type, body }: SentBody): ReadonlyArray<readonly [string, unknown]> {
  if (body === '') return []
  if (/^application\/x-www-form-urlencoded/i.test(type)) return [...new URLSearchParams(body)]
  try {
    const parsed: unknown = JSON.parse(body)
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)
      ? Object.entries(parsed)
      : []
  } catch {
    return []
  }
}

function written(name: string, value: unknown): string {
  const text = Array.isArray(value) ? value.map(String).join(' ') : String(value)
  return `${name}=${text.slice(0, VALUE_CHARACTERS_MAX)}`
}
