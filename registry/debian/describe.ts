/** The description of a Debian package, from the fields of its control file (deb-control(5)). */

import type { Json } from '../../conf/package.js'
import { commaSeparated, type Describe, groupsOf, textOf } from '../description.js'

const RELATIONS = [
  ['Pre-Depends', 'Depends', 'Recommends', 'Suggests', 'Enhances'],
  ['Breaks', 'Conflicts', 'Replaces', 'Provides'],
].flat()

export const describe: Describe = (metadata) => {
  const pairs = [metadata['fields'] ?? []].flat().map((field) => [field].flat())
  const fields = new Map(pairs.map(([name, value]) => [String(name), value as Json | undefined]))
  const [summary, ...lines] = (textOf(fields.get('Description')) ?? '').split('\n')
  // A line with a full stop alone is an empty line.
  const text = lines.map((line) => (line.trim() === '.' ? '' : line.trim())).join('\n')
  return {
    summary: textOf(summary),
    text: textOf(text),
    homepage: textOf(fields.get('Homepage')),
    authors:
      textOf(fields.get('Maintainer')) === undefined ? [] : [String(fields.get('Maintainer'))],
    dependencies: groupsOf(
      Object.fromEntries(RELATIONS.map((name) => [name, commaSeparated(fields.get(name))])),
    ),
  }
}
