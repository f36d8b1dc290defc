/** Operations on labels of repositories and organizations: list, create, read, edit, delete. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import {
  createLabel,
  deleteLabel,
  findLabel,
  type LabelOwner,
  listLabels,
  updateLabel,
} from '../../../sql/issues/labels.js'
import { numberOf } from '../../actions/issues/issue-access.js'
import type { AccessKind, Grants } from '../../auth/authorize.js'
import {
  CREATE_LABEL_OPTION,
  EDIT_LABEL_OPTION,
  LABEL,
  type LabelPlace,
  labelObject,
  readLabel,
  readLabelPatch,
} from '../../objects/issues/label-object.js'
import { type AnyOperation, defineOperation, type Operation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

/** Differences between the labels of repositories and those of organizations. */
export interface LabelOperationsOptions<K extends AccessKind>
  extends Pick<Operation<K>, 'path' | 'params'> {
  /** Tag of the operations, and category of their scopes. */
  readonly category: 'issue' | 'organization'
  readonly readers: Operation<K>['access']
  readonly writers: Operation<K>['access']
  /** Error statuses of the operations that change a label. */
  readonly failures: readonly number[]
  /** Id and summary of each operation. */
  readonly names: Readonly<
    Record<'list' | 'create' | 'get' | 'edit' | 'remove', readonly [id: string, summary: string]>
  >
  /** Returns the owner of the labels, and the path of their list below `/api/v1`. */
  locate(grant: Grants[K]): {
    readonly owner: LabelOwner
    readonly place: LabelPlace
    readonly path: string
  }
  /** Throws if the owner cannot be changed at present, for example an archived repository. */
  refuseChange?(grant: Grants[K]): void
}

/** Returns the five operations on labels of one kind of owner. */
export function labelOperations<K extends AccessKind>(
  home: LabelOperationsOptions<K>,
): readonly AnyOperation[] {
  const { category, params, failures, locate, refuseChange } = home
  const named = (action: keyof typeof home.names) => {
    const [id, summary] = home.names[action]
    return { id, summary, tags: [category] }
  }
  const reading = { access: home.readers, scopes: [`read:${category}`] } as const
  const writing = { access: home.writers, scopes: [`write:${category}`] } as const
  const all = { path: home.path, params }
  const one = { path: `${home.path}/{id}`, params: { ...params, id: 'id of the label' } }
  return [
    defineOperation({
      ...named('list'),
      method: 'GET',
      ...all,
      ...reading,
      failures: [404],
      query: Type.Object(PAGE_QUERY),
      success: { status: 200, schema: Type.Array(LABEL) },
      async handle(context, { grant, query }) {
        const { owner, place, path } = locate(grant)
        const page = pageOf(query)
        const { entries, total } = await listLabels(context.db, owner, page)
        const objects = entries.map((label) => labelObject(context, label, place))
        return pageReply(context, objects, { path, page, total })
      },
    }),
    defineOperation({
      ...named('create'),
      method: 'POST',
      ...all,
      ...writing,
      query: NO_QUERY,
      failures: [...failures, 422],
      body: CREATE_LABEL_OPTION,
      success: { status: 201, schema: LABEL },
      async handle(context, { grant, body }) {
        refuseChange?.(grant)
        const { owner, place } = locate(grant)
        const label = await createLabel(context.db, owner, readLabel(body))
        return jsonReply(201, labelObject(context, label, place))
      },
    }),
    defineOperation({
      ...named('get'),
      method: 'GET',
      ...one,
      ...reading,
      query: NO_QUERY,
      failures: [404],
      success: { status: 200, schema: LABEL },
      async handle(context, { grant, params }) {
        const { owner, place } = locate(grant)
        const label = await findLabel(context.db, owner, numberOf(params, 'id'))
        if (label === undefined) throw notFound()
        return jsonReply(200, labelObject(context, label, place))
      },
    }),
    defineOperation({
      ...named('edit'),
      method: 'PATCH',
      ...one,
      ...writing,
      query: NO_QUERY,
      failures: [...failures, 422],
      body: EDIT_LABEL_OPTION,
      success: { status: 200, schema: LABEL },
      async handle(context, { grant, params, body }) {
        refuseChange?.(grant)
        const { owner, place } = locate(grant)
        const patch = { ...readLabelPatch(body), id: numberOf(params, 'id') }
        const label = await updateLabel(context.db, owner, patch)
        if (label === undefined) throw notFound()
        return jsonReply(200, labelObject(context, label, place))
      },
    }),
    defineOperation({
      ...named('remove'),
      method: 'DELETE',
      ...one,
      ...writing,
      query: NO_QUERY,
      failures,
      success: { status: 204, schema: null },
      async handle({ db }, { grant, params }) {
        refuseChange?.(grant)
        if (!(await deleteLabel(db, locate(grant).owner, numberOf(params, 'id')))) {
          throw notFound()
        }
        return { status: 204 }
      },
    }),
  ]
}
