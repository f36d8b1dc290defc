/** Page of a cleanup rule of packages: its conditions, its preview and its last run. */

import type { JSX } from 'preact/jsx-runtime'
import { type Failure, isFailure } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import type { PackageFormat } from '../../../conf/package.js'
import type { CleanupPreview } from '../../../registry/cleanup.js'
import {
  type CleanupRule,
  type CleanupRuleInput,
  deleteCleanupRule,
  findCleanupRule,
} from '../../../sql/packages/cleanup-rules.js'
import {
  KEEP_COUNTS,
  PATTERN_CHARACTERS_MAX,
  preview,
  REMOVE_DAYS,
  saveRule,
  startCleanup,
  wantedFormat,
  wantedRule,
} from '../../actions/packages/retention.js'
import { roleIn } from '../../auth/authorize-accounts.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import type { Call } from '../../request/route.js'
import { sizeOf } from '../code/file-view.js'
import { Document } from '../kit/document.js'
import { htmlReply } from '../kit/html.js'
import {
  definePage,
  fieldOf,
  pageNumber,
  readForm,
  redirectTo,
  withFormErrors,
} from '../kit/page.js'
import { Pager } from '../kit/pager.js'
import { ErrorMessage } from '../kit/problem.js'
import { TextField } from '../kit/text-field.js'
import { Ago } from '../kit/times.js'
import { OwnerTabs } from '../repositories/owner-tabs.js'
import {
  OWN_PACKAGES,
  PACKAGE_SETTINGS_PATH,
  packageSettingsPath,
} from './package-settings-page.js'

const PATH = `${PACKAGE_SETTINGS_PATH}/rules/{type}`
const LISTED = 50

const NEW_RULE: CleanupRuleInput = {
  isEnabled: false,
  keepCount: 5,
  keepPattern: '',
  removeDays: 90,
  removePattern: '',
  matchesFullName: false,
}

interface Refused {
  readonly failure: Failure
  readonly input: CleanupRuleInput
}

async function answer(
  context: Context,
  { request, grant, params }: Pick<Call<'packages'>, 'request' | 'grant' | 'params'>,
  refused?: Refused,
): Promise<Reply> {
  const { owner, user, who } = grant
  const format = wantedFormat(params['type'])
  const role = await roleIn(context.db, who, owner)
  const rule = await findCleanupRule(context.db, { ownerId: owner.id, format })
  const page = { page: pageNumber(request), limit: LISTED }
  const shown = rule && (await previewOf(context, rule, page))
  const base = context.settings.http.basePath
  const address = `${base}${packageSettingsPath(owner)}/rules/${format}`
  return htmlReply(
    request,
    <Document context={context} title={`Cleanup of ${format} · ${owner.name}`} user={user}>
      <OwnerTabs context={context} owner={owner} role={role} tab="packages" />
      <h2>{`Cleanup rule for ${format} packages`}</h2>
      <p>
        <a href={base + packageSettingsPath(owner)}>Package settings</a>
      </p>
      <ErrorMessage error={refused?.failure.message ?? shown?.error} />
      <RuleForm address={address} rule={refused?.input ?? rule ?? NEW_RULE} />
      {rule !== undefined && <LastRun rule={rule} />}
      {shown?.preview !== undefined && (
        <>
          <PreviewSection preview={shown.preview} />
          <Pager address={address} page={page} total={shown.preview.versions} />
        </>
      )}
      {rule !== undefined && <RuleButtons address={address} rule={rule} />}
    </Document>,
    { status: refused?.failure.status ?? 200 },
  )
}

interface ShownPreview {
  readonly preview?: CleanupPreview
  /** Reason for which there is no preview. */
  readonly error?: string
}

/** Returns the preview, or the reason why its patterns cannot be matched. */
async function previewOf(
  context: Context,
  rule: CleanupRule,
  page: { readonly page: number; readonly limit: number },
): Promise<ShownPreview> {
  try {
    return { preview: await preview(context, rule, page) }
  } catch (error) {
    if (!isFailure(error, 'invalid')) throw error
    return { error: error.message }
  }
}

interface FormProps {
  readonly address: string
  readonly rule: CleanupRuleInput
}

function RuleForm({ address, rule }: FormProps): JSX.Element {
  return (
    <form class="form" method="post" action={address}>
      <label class="choice">
        <input type="checkbox" name="enabled" checked={rule.isEnabled} /> Enabled: applied once a
        day
      </label>
      <NumberField
        label="Newest versions of each package to keep"
        name="keep_count"
        values={KEEP_COUNTS}
        value={rule.keepCount}
      />
      <TextField
        label="Keep versions that match (regular expression)"
        name="keep_pattern"
        value={rule.keepPattern}
        charactersMax={PATTERN_CHARACTERS_MAX}
      />
      <NumberField
        label="Remove versions older than this number of days"
        name="remove_days"
        values={REMOVE_DAYS}
        value={rule.removeDays}
      />
      <TextField
        label="Remove versions that match (regular expression; empty: all)"
        name="remove_pattern"
        value={rule.removePattern}
        charactersMax={PATTERN_CHARACTERS_MAX}
      />
      <label class="choice">
        <input type="checkbox" name="match_full_name" checked={rule.matchesFullName} /> Patterns
        match name/version, not only the version
      </label>
      <button type="submit">Save and preview</button>
    </form>
  )
}

interface NumberFieldProps {
  readonly label: string
  readonly name: string
  readonly values: readonly number[]
  readonly value: number
}

function NumberField({ label, name, values, value }: NumberFieldProps): JSX.Element {
  return (
    <>
      <label for={name}>{label}</label>
      <select id={name} name={name}>
        {values.map((one) => (
          <option value={String(one)} selected={one === value}>
            {String(one)}
          </option>
        ))}
      </select>
    </>
  )
}

function LastRun({ rule: { lastRun } }: { readonly rule: CleanupRule }): JSX.Element {
  if (lastRun === undefined) return <p class="quiet">The rule has not run yet.</p>
  const { endedAtMs, versions, bytes, error } = lastRun
  return (
    <p class="quiet">
      {'Last run '}
      <Ago atMs={endedAtMs} />
      {`: ${versions} versions removed, ${sizeOf(bytes)}. `}
      <Shown text={error} />
    </p>
  )
}

function PreviewSection({ preview: { versions, bytes, listed } }: { preview: CleanupPreview }) {
  return (
    <section>
      <h3>Preview</h3>
      <p>{`A run would remove ${versions} versions, ${sizeOf(bytes)} in total.`}</p>
      <ul class="list">
        {listed.map(({ packageName, version, createdAtMs }) => (
          <li>
            <span class="grow">
              <Shown text={`${packageName} ${version}`} />
            </span>
            <Ago atMs={createdAtMs} />
          </li>
        ))}
      </ul>
    </section>
  )
}

interface ButtonsProps {
  readonly address: string
  readonly rule: CleanupRule
}

function RuleButtons({ address, rule }: ButtonsProps): JSX.Element {
  return (
    <>
      {rule.isEnabled && (
        <form method="post" action={`${address}/run`}>
          <button type="submit" class="danger">
            Run now
          </button>
        </form>
      )}
      <form method="post" action={`${address}/delete`}>
        <button type="submit" class="danger">
          Delete the rule
        </button>
      </form>
    </>
  )
}

const show = definePage<'packages'>({
  method: 'GET',
  path: PATH,
  access: OWN_PACKAGES,
  handle: (context, call) => answer(context, call),
})

const save = definePage<'packages'>({
  method: 'POST',
  path: PATH,
  access: OWN_PACKAGES,
  async handle(context, call) {
    const { owner } = call.grant
    const format = wantedFormat(call.params['type'])
    const input = inputOf(await readForm(call.request))
    const store = async () => {
      await saveRule(context, owner, { format, input })
      return redirectTo(context, rulePath(owner, format))
    }
    return withFormErrors(store, (failure) => answer(context, call, { failure, input }))
  },
})

function inputOf(form: URLSearchParams): CleanupRuleInput {
  return {
    isEnabled: form.has('enabled'),
    keepCount: Number(fieldOf(form, 'keep_count')),
    keepPattern: fieldOf(form, 'keep_pattern'),
    removeDays: Number(fieldOf(form, 'remove_days')),
    removePattern: fieldOf(form, 'remove_pattern'),
    matchesFullName: form.has('match_full_name'),
  }
}

function rulePath(owner: { readonly name: string }, format: PackageFormat): string {
  return `${packageSettingsPath(owner)}/rules/${format}`
}

const run = definePage<'packages'>({
  method: 'POST',
  path: `${PATH}/run`,
  access: OWN_PACKAGES,
  async handle(context, { grant: { owner }, params }) {
    const rule = await wantedRule(context, owner, params['type'])
    await startCleanup(context, rule)
    return redirectTo(context, rulePath(owner, rule.format))
  },
})

const remove = definePage<'packages'>({
  method: 'POST',
  path: `${PATH}/delete`,
  access: OWN_PACKAGES,
  async handle(context, { grant: { owner }, params }) {
    const format = wantedFormat(params['type'])
    await deleteCleanupRule(context.db, { ownerId: owner.id, format })
    return redirectTo(context, packageSettingsPath(owner))
  },
})

export const CLEANUP_RULE_PAGES = [show, save, run, remove]
