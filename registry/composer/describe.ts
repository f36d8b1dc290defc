/** The description of a Composer package, from its composer.json. */

import type { JsonObject } from '../../conf/package.js'
import { type Describe, groupsOf, objectOf, textOf, textsOf } from '../description.js'

const RELATIONS = ['require', 'require-dev', 'suggest', 'conflict', 'replace', 'provide'] as const

export const describe: Describe = (metadata) => {
  const fields = objectOf(metadata['fields'])
  const groups = RELATIONS.map((relation) => [relation, linksOf(objectOf(fields[relation]))])
  const authors = [fields['authors'] ?? []].flat().map((author) => objectOf(author))
  return {
    summary: textOf(fields['description']),
    license: textsOf(fields['license']).join(' or ') || undefined,
    homepage: textOf(fields['homepage']),
    authors: authors.flatMap(({ name }) => textOf(name) ?? []),
    dependencies: groupsOf(Object.fromEntries(groups)),
  }
}

function linksOf(links: JsonObject): readonly string[] {
  return Object.entries(links).map(([name, constraint]) => `${name} ${textOf(constraint) ?? ''}`)
}
