/** Labels of an organization over the API, which all of its repositories can use. */

import { labelOperations } from '../issues/label-operations.js'
import type { AnyOperation } from '../operation.js'

export const ORGANIZATION_LABEL_OPERATIONS: readonly AnyOperation[] = labelOperations({
  path: '/orgs/{org}/labels',
  category: 'organization',
  readers: { kind: 'organization', role: 'visible' },
  writers: { kind: 'organization', role: 'owner' },
  params: { org: 'name of the organization' },
  failures: [403, 404],
  names: {
    list: ['orgListLabels', "List an organization's labels"],
    create: ['orgCreateLabel', 'Create a label for an organization'],
    get: ['orgGetLabel', 'Get a single label'],
    edit: ['orgEditLabel', 'Update a label'],
    remove: ['orgDeleteLabel', 'Delete a label'],
  },
  locate: ({ organization }) => ({
    owner: { organizationId: organization.id },
    place: { owner: organization },
    path: `/orgs/${organization.name}/labels`,
  }),
})
