/** Layout of the pages of an owner's packages. */

import type { Child, JSX } from 'preact/jsx-runtime'
import type { OrganizationRole } from '../../../sql/organizations/organizations.js'
import { accessToPackages } from '../../../sql/repositories/access.js'
import type { Grants } from '../../auth/authorize.js'
import type { Context } from '../../request/context.js'
import { Document } from '../kit/document.js'
import { OwnerTabs } from '../repositories/owner-tabs.js'

export interface PackagesDocumentProps {
  readonly context: Context
  readonly grant: Grants['packages']
  readonly role: OrganizationRole
  readonly title: string
  readonly children?: Child
}

/** Renders a page of an owner's packages around its content. */
export function PackagesDocument(props: PackagesDocumentProps): JSX.Element {
  const { context, grant, role, title, children } = props
  const { owner, user } = grant
  return (
    <Document context={context} title={`${title} · ${owner.name}`} user={user}>
      <OwnerTabs context={context} owner={owner} role={role} tab="packages" />
      {children}
    </Document>
  )
}

/** Returns the address of an owner's packages. */
export function packagesUrl(
  { settings }: Pick<Context, 'settings'>,
  { owner }: { readonly owner: { readonly name: string } },
): string {
  return `${settings.http.basePath}/${owner.name}/-/packages`
}

/** True if anonymous clients cannot read the packages of the owner. */
export async function areHidden(
  { db }: Pick<Context, 'db'>,
  { owner }: Pick<Grants['packages'], 'owner'>,
): Promise<boolean> {
  return (await accessToPackages(db, undefined, owner)) === 'none'
}
