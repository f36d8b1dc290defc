/** Package identifiers: a scope and a name (Swift Package Registry, 3.6). */

import { Failure } from '../../conf/failures.js'
import { quote } from '../archive/zip-paths.js'

export interface Identity {
  readonly scope: string
  readonly name: string
}

const SCOPE = /^[A-Za-z0-9]+(?:-[A-Za-z0-9]+)*$/
const SCOPE_CHARACTERS_MAX = 39
const NAME = /^[A-Za-z0-9]+(?:[-_][A-Za-z0-9]+)*$/
const NAME_CHARACTERS_MAX = 100

/** Returns a package identifier. Throws `bad_request` if the scope or the name is invalid. */
export function parseIdentity(scope: string, name: string): Identity {
  if (scope.length > SCOPE_CHARACTERS_MAX || !SCOPE.test(scope)) {
    const rule = 'must have 1 to 39 letters and digits, separated by single hyphens'
    throw new Failure('bad_request', `invalid package scope: ${quote(scope)} ${rule}`)
  }
  if (name.length > NAME_CHARACTERS_MAX || !NAME.test(name)) {
    const rule = 'must have 1 to 100 letters and digits, separated by single hyphens or underscores'
    throw new Failure('bad_request', `invalid package name: ${quote(name)} ${rule}`)
  }
  return { scope, name }
}

/** Returns `scope.name`, the name of the package in the package store. */
export function formatIdentity({ scope, name }: Identity): string {
  return `${scope}.${name}`
}

/** Splits a name of the package store into scope and name; a scope has no dot. */
export function identityOf(packageName: string): Identity {
  const dot = packageName.indexOf('.')
  return { scope: packageName.slice(0, dot), name: packageName.slice(dot + 1) }
}
