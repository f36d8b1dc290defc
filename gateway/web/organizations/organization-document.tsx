/** Layout of the pages of an organization: heading, tabs and error message. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import type { VisibilityLabels } from '../kit/detail-fields.js'
import { Document } from '../kit/document.js'
import { ErrorMessage } from '../kit/problem.js'
import { OwnerTabs, type OwnerTabsProps } from '../repositories/owner-tabs.js'

/** Labels of the visibilities of an organization. */
export const VISIBILITY_LABELS: VisibilityLabels = {
  public: 'Everyone',
  limited: 'Signed-in users',
  private: 'Members only',
}

export interface OrganizationDocumentProps extends Pick<OwnerTabsProps, 'tab'> {
  readonly context: Context
  readonly grant: Pick<Grants['organization'], 'organization' | 'role' | 'user'>
  readonly title: string
  readonly error?: string | undefined
  readonly children?: Child
}

/** Renders a page of an organization around its content. */
export function OrganizationDocument(props: OrganizationDocumentProps): JSX.Element {
  const { context, grant, tab, title, error, children } = props
  const { organization, role, user } = grant
  return (
    <Document context={context} title={`${title} · ${organization.name}`} user={user}>
      <OwnerTabs context={context} owner={organization} role={role} tab={tab} />
      <h2>{title}</h2>
      <ErrorMessage error={error} />
      {children}
    </Document>
  )
}
