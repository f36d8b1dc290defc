/** What the client generated from Gitea's description declares of its objects, field by field. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import ts from 'typescript'

/** Fields by name, each with its type in the words of JSON. */
export type Shape = Readonly<Record<string, string>>

/** The objects of the client's declarations, by name. */
export function declaredShapes(): ReadonlyMap<string, Shape> {
  const file = createRequire(import.meta.url)
    .resolve('gitea-js')
    .replace(/\.m?js$/, '.d.ts')
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest)
  const shapes = new Map<string, Shape>()
  for (const statement of source.statements) {
    if (!ts.isInterfaceDeclaration(statement)) continue
    const fields = statement.members.filter(ts.isPropertySignature)
    shapes.set(
      statement.name.text,
      Object.fromEntries(fields.map((field) => [nameOf(field), typeOf(field.type, source)])),
    )
  }
  return shapes
}

function nameOf({ name }: ts.PropertySignature): string {
  return ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : '?'
}

/** `string`, `number`, `boolean`, `array`, or `object` for whatever else. */
function typeOf(type: ts.TypeNode | undefined, source: ts.SourceFile): string {
  if (type === undefined) return 'any'
  if (ts.isArrayTypeNode(type)) return 'array'
  const text = type.getText(source)
  if (/^(?:string|number|boolean|any)$/.test(text)) return text
  if (/^(?:Record<string, any>|object)$/.test(text)) return 'any'
  if (/^"|^'|^(?:StateType|ReviewStateType|CommitStatusState|NotifySubjectType)$/.test(text)) {
    return 'string'
  }
  return text === 'TimeStamp' ? 'number' : 'object'
}
