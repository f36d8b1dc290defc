/** Differences between the pages of the webhooks of a repository and those of the site. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { HookPlace, HookSearch, Webhook } from '../../../sql/webhooks/webhooks.js'
import type { Access, AccessKind } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'

export interface HookDocumentProps<K extends AccessKind> {
  readonly context: Context
  readonly call: Pick<Call<K>, 'grant'>
  readonly error: string | undefined
  readonly children?: Child
}

export interface HookPages<K extends AccessKind> {
  /** Path of the list, which is that of a new webhook too. */
  readonly path: string
  readonly access: Extract<Access, { kind: K }>
  /** Renders a page around its content. */
  readonly document: (props: HookDocumentProps<K>) => JSX.Element
  /** Returns the path of the list for a request. */
  readonly pathOf: (grant: Call<K>['grant']) => string
  /** Returns the place whose webhooks are shown. */
  readonly placeOf: (grant: Call<K>['grant']) => HookSearch
  /** Returns the place of a new webhook. */
  readonly newPlaceOf: (grant: Call<K>['grant'], form: URLSearchParams) => HookPlace
  /** Fields of the form of a new webhook that choose its place; absent if there is one place. */
  readonly placeFields?: JSX.Element
  /** Sends a test. Absent if webhooks of the place have no repository to send. */
  readonly test?: (context: Context, grant: Call<K>['grant'], webhook: Webhook) => Promise<boolean>
}
