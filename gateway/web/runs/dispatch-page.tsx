/** Page with the form that starts a workflow, with its inputs. */

import type { JSX } from 'preact/jsx-runtime'
import { actingUserOf } from '../../actions/code/acting-user.js'
import type { RepositoryGrant } from '../../actions/code/git-reader.js'
import { refuseWithoutActions } from '../../actions/repositories/has-actions.js'
import { Shown } from '../../rendering/visible-text.js'
import type { Context } from '../../request/context.js'
import { type DispatchForm, dispatchRun, findDispatchForm } from '../../runs/dispatch-run.js'
import { htmlReply } from '../kit/html.js'
import { repositoryUrl } from '../kit/links.js'
import { definePage, fieldOf, readForm, redirectTo, withFormErrors } from '../kit/page.js'
import { ErrorMessage } from '../kit/problem.js'
import { RepositoryDocument } from '../repositories/repository-document.js'

const PATH = '/{owner}/{repo}/actions/workflows/{file}/run'
const ACCESS = { kind: 'repository', mode: 'write', unit: 'actions' } as const

/** Prefix of the fields of inputs, so that none has the name of another field. */
const INPUT_PREFIX = 'input.'

interface DispatchProps {
  readonly context: Context
  readonly grant: RepositoryGrant
  readonly file: string
  readonly form: DispatchForm
  readonly sent?: URLSearchParams
  readonly error?: string
}

function DispatchDocument(props: DispatchProps): JSX.Element {
  const { context, grant, file, form, sent, error } = props
  const address = `${repositoryUrl(context, grant)}/actions/workflows/${encodeURIComponent(file)}`
  return (
    <RepositoryDocument context={context} grant={grant} tab="actions" title={`Run ${file}`}>
      <h2>
        Run <Shown text={file} />
      </h2>
      <ErrorMessage error={error} />
      <form method="get" action={`${address}/run`}>
        <label for="ref">Branch or tag, whose inputs are below</label>
        <input type="text" id="ref" name="ref" required={true} value={form.reference} />
        <button type="submit">Show the inputs</button>
      </form>
      <form method="post" action={`${address}/run`}>
        <input type="hidden" name="ref" value={form.reference} />
        {form.inputs.map((input) => (
          <Field input={input} value={sent?.get(INPUT_PREFIX + input.name) ?? input.fallback} />
        ))}
        <button type="submit">Run the workflow</button>
      </form>
    </RepositoryDocument>
  )
}

interface FieldProps {
  readonly input: DispatchForm['inputs'][number]
  readonly value: string
}

function Field({ input, value }: FieldProps): JSX.Element {
  const { name, description, isRequired, type } = input
  const id = INPUT_PREFIX + name
  const options = type === 'boolean' ? ['true', 'false'] : input.options
  return (
    <>
      <label for={id}>
        <Shown text={description === '' ? name : description} />
        {isRequired && ' (required)'}
      </label>
      {type === 'boolean' || type === 'choice' ? (
        <select id={id} name={id}>
          {options.map((option) => (
            <option value={option} selected={option === value}>
              <Shown text={option} />
            </option>
          ))}
        </select>
      ) : (
        <input type="text" id={id} name={id} required={isRequired} value={value} />
      )}
    </>
  )
}

const show = definePage<'repository'>({
  method: 'GET',
  path: PATH,
  access: ACCESS,
  async handle(context, { request, grant, params }) {
    const { repository } = grant
    refuseWithoutActions(context, repository)
    const file = params['file'] ?? ''
    const reference = new URLSearchParams(request.query).get('ref') ?? repository.defaultBranch
    const form = await findDispatchForm(context, { repository, file, reference })
    return htmlReply(
      request,
      <DispatchDocument context={context} grant={grant} file={file} form={form} />,
    )
  },
})

const run = definePage<'repository'>({
  method: 'POST',
  path: PATH,
  access: ACCESS,
  async handle(context, { request, grant, params }) {
    const { repository } = grant
    refuseWithoutActions(context, repository)
    const sent = await readForm(request)
    const target = { repository, file: params['file'] ?? '', reference: fieldOf(sent, 'ref') }
    const start = async () => {
      const { number } = await dispatchRun(context, {
        ...target,
        user: actingUserOf(grant),
        inputs: inputsOf(sent),
      })
      return redirectTo(
        context,
        `/${repository.owner.name}/${repository.name}/actions/runs/${number}`,
      )
    }
    return await withFormErrors(start, async ({ message, status }) => {
      const form = await findDispatchForm(context, target)
      const document = { context, grant, file: target.file, form, sent, error: message }
      return htmlReply(request, <DispatchDocument {...document} />, { status })
    })
  },
})

function inputsOf(sent: URLSearchParams): Readonly<Record<string, string>> {
  const fields = [...sent].filter(([name]) => name.startsWith(INPUT_PREFIX))
  return Object.fromEntries(fields.map(([name, value]) => [name.slice(INPUT_PREFIX.length), value]))
}

export const DISPATCH_PAGES = [show, run]
