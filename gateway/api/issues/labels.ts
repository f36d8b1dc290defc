/** Labels of a repository over the API: list, create, read, edit, delete. */

import { actingUserOf } from '../../actions/code/acting-user.js'
import type { AnyOperation } from '../operation.js'
import { REPOSITORY_PARAMS } from './issue-params.js'
import { labelOperations } from './label-operations.js'

export const LABEL_OPERATIONS: readonly AnyOperation[] = labelOperations({
  path: '/repos/{owner}/{repo}/labels',
  category: 'issue',
  readers: { kind: 'repository', mode: 'read' },
  writers: { kind: 'repository', mode: 'write' },
  params: REPOSITORY_PARAMS,
  failures: [403, 404, 423],
  names: {
    list: ['issueListLabels', "Get all of a repository's labels"],
    create: ['issueCreateLabel', 'Create a label'],
    get: ['issueGetLabel', 'Get a single label'],
    edit: ['issueEditLabel', 'Update a label'],
    remove: ['issueDeleteLabel', 'Delete a label'],
  },
  locate: ({ repository }) => ({
    owner: { repositoryId: repository.id },
    place: repository,
    path: `/repos/${repository.owner.name}/${repository.name}/labels`,
  }),
  refuseChange: actingUserOf,
})
