/** Object types that clients generated from Gitea's API description declare. */

import { readdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import ts from 'typescript'

/** JSON types of an object's fields, by name. */
export type Shape = Readonly<Record<string, string>>

const { resolve } = createRequire(import.meta.url)

/** Paths of the files that declare the objects, by client. */
export const DECLARING_CLIENTS = {
  'gitea-js': () => resolve('gitea-js').replace(/\.m?js$/, '.d.ts'),
  'gitea-client': () => {
    const folder = dirname(resolve('gitea-client'))
    const name = readdirSync(folder).find((each) => /^types\.gen.*\.d\.ts$/.test(each))
    return join(folder, name ?? 'types.gen.d.ts')
  },
} as const

/** Returns the declared objects of a client, by name. */
export function declaredShapes(client: keyof typeof DECLARING_CLIENTS): ReadonlyMap<string, Shape> {
  const file = DECLARING_CLIENTS[client]()
  const source = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.Latest)
  const aliases = new Map<string, string>()
  const objects = new Map<string, readonly ts.PropertySignature[]>()
  for (const statement of source.statements) {
    if (ts.isInterfaceDeclaration(statement)) {
      objects.set(statement.name.text, statement.members.filter(ts.isPropertySignature))
    } else if (ts.isTypeAliasDeclaration(statement)) {
      const { name, type } = statement
      if (ts.isTypeLiteralNode(type)) {
        objects.set(name.text, type.members.filter(ts.isPropertySignature))
      } else aliases.set(name.text, type.getText(source))
    }
  }
  const shapeOf = (fields: readonly ts.PropertySignature[]) =>
    Object.fromEntries(fields.map(({ name, type }) => [nameOf(name), typeOf(type)]))
  const typeOf = (type: ts.TypeNode | undefined) => {
    if (type === undefined) return 'any'
    const text = type.getText(source)
    return ts.isArrayTypeNode(type) ? 'array' : wordOf(aliases.get(text) ?? text)
  }
  return new Map([...objects].map(([name, fields]) => [name, shapeOf(fields)]))
}

function nameOf(name: ts.PropertyName): string {
  return ts.isIdentifier(name) || ts.isStringLiteral(name) ? name.text : '?'
}

/** Returns `string`, `number`, `boolean`, `array`, `any`, or `object` for all other types. */
function wordOf(text: string): string {
  if (/^(?:string|number|boolean|any)$/.test(text)) return text
  if (/^(?:Record<string, any>|object|unknown|\{\s*\[key: string\]: unknown;?\s*\})$/.test(text)) {
    return 'any'
  }
  if (/^Array</.test(text)) return 'array'
  return /^["']/.test(text) ? 'string' : 'object'
}
