/** Units of a repository, and the SQL condition for the teams that have access to one. */

/** Units of a repository. A team can have another access to each of them. */
export const REPOSITORY_UNITS = ['code', 'issues', 'pulls', 'releases', 'wiki', 'actions'] as const

export type RepositoryUnit = (typeof REPOSITORY_UNITS)[number]

/**
 * Condition for the teams `t` that have at least that access to a unit of their repositories. Units
 * are stored as JSON without whitespace. The column `permission` applies if there are none, or if
 * it is at least `admin`. Pull requests also need access to code, which any team can give.
 */
export function teamGives(unit: RepositoryUnit | 'any', needed: 'read' | 'write' = 'read'): string {
  if (unit === 'any') {
    const units = REPOSITORY_UNITS.filter((one) => one !== 'pulls')
    return `(${units.map((one) => teamGives(one, needed)).join(' or ')})`
  }
  const alike = needed === 'read' ? "t.permission <> 'none'" : "t.permission = 'write'"
  const modes = needed === 'read' ? ['read', 'write', 'admin'] : ['write', 'admin']
  const own = modes.map((mode) => `instr(t.units, '"repo.${unit}":"${mode}"') > 0`).join(' or ')
  return `(t.permission in ('admin', 'owner') or (t.units in ('', '{}') and ${alike}) or ${own})`
}
