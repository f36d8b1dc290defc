/** A package format: its routes, index, installation instructions and errors. */

import type { Failure } from '../conf/failures.js'
import type { Reply, Request } from '../conf/http.js'
import type { Awaitable } from '../conf/lib/awaitable.js'
import type { PackageFormat } from '../conf/package.js'
import type { Describe } from './description.js'
import type { IndexMaker } from './index-maker.js'
import type { Install } from './install.js'
import type { PackageStore } from './package-store.js'
import type { SourceRepositories } from './source-repository.js'

export interface Format {
  /** Name in URLs and in the database. */
  readonly name: PackageFormat
  readonly routes: readonly FormatRoute[]
  /** Makes the indexes of a format whose clients read indexes. */
  readonly index?: IndexMaker
  /** Describes a version on its page. */
  readonly describe: Describe
  /** Instructions for installing a package, which its page shows. */
  readonly install: Install
  /** Renders an error for the clients of the format. The status is that of the failure. */
  refuse(failure: Failure): Pick<Reply, 'headers' | 'body'>
}

export interface FormatRoute {
  /** A route for GET answers HEAD too. */
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  /**
   * Path below `/api/packages/{owner}/{format}`, with parameters in braces for whole segments:
   * `/{name}/{version}`. Empty for the registry's own URL. A last segment in the form `{rest...}`
   * matches all further segments if no other route matches.
   */
  readonly path: string
  /** Permission that the caller needs on the owner's packages; `signed-in`: any account. */
  readonly access: 'read' | 'write' | 'signed-in'
  /**
   * Throws a `Failure` or rejects with it. Must read uploads through `PackageStore.inspect` only,
   * because the uploader chooses what reading costs.
   */
  readonly handle: (store: PackageStore, call: FormatCall) => Awaitable<Reply>
}

export interface FormatCall {
  readonly request: Request
  /** Percent-decoded, except `{rest...}`, which is as the client sent it. */
  readonly params: Readonly<Record<string, string>>
  /** Repositories of the owner, for formats that serve their code as packages. */
  readonly repositories: SourceRepositories
}
