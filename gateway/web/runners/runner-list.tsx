/** Runners of a scope on a page: their states, and forms that change them. */

import type { JSX } from 'preact/jsx-runtime'
import type { SeenRunner } from '../../actions/runners/manage-runners.js'
import { Shown } from '../../rendering/visible-text.js'
import { RemovalForm } from '../kit/removal-form.js'
import { Ago } from '../kit/times.js'

export interface RunnerListProps {
  /** URL of the page; the forms post to it and to paths below it. */
  readonly address: string
  /** Scope of the runners in words. */
  readonly scope: string
  readonly runners: readonly SeenRunner[]
}

export function RunnerList({ address, scope, runners }: RunnerListProps): JSX.Element {
  if (runners.length === 0) return <p class="empty">There are no runners yet.</p>
  return (
    <ul class="list">
      {runners.map((runner) => (
        <li>
          <RunnerFacts runner={runner} scope={scope} />
          <Change address={address} runner={runner} field="disabled" isOn={runner.isDisabled}>
            {runner.isDisabled ? 'Enable' : 'Disable'}
          </Change>
          <Change address={address} runner={runner} field="forks" isOn={runner.runsForks}>
            {runner.runsForks ? 'Refuse forks' : 'Permit forks'}
          </Change>
          <RemovalForm
            address={`${address}/delete`}
            id={runner.id}
            word="Delete"
            label={`Delete ${runner.name}`}
          />
        </li>
      ))}
    </ul>
  )
}

function RunnerFacts({
  runner,
  scope,
}: Pick<RunnerListProps, 'scope'> & { readonly runner: SeenRunner }): JSX.Element {
  const { name, version, labels, lastSeenAtMs } = runner
  return (
    <div class="grow">
      <strong>
        <Shown text={name.trim() === '' ? runner.uuid : name} />
      </strong>{' '}
      {wordsOf(runner).map((word) => (
        <>
          <span class="label">{word}</span>{' '}
        </>
      ))}
      <p class="quiet">
        <Shown text={`${scope} · labels ${labels.join(', ')} · version ${version} · `} />
        {lastSeenAtMs === undefined ? 'never seen' : 'seen '}
        {lastSeenAtMs !== undefined && <Ago atMs={lastSeenAtMs} />}
      </p>
    </div>
  )
}

function wordsOf(runner: SeenRunner): readonly string[] {
  const { isOnline, isBusy, isDisabled, isEphemeral, runsForks } = runner
  const words = { busy: isBusy, disabled: isDisabled, ephemeral: isEphemeral, forks: runsForks }
  const further = Object.entries(words).flatMap(([word, isTrue]) => (isTrue ? word : []))
  return [isOnline ? 'online' : 'offline', ...further]
}

interface ChangeProps extends Pick<RunnerListProps, 'address'> {
  readonly runner: SeenRunner
  readonly field: 'disabled' | 'forks'
  /** True if the setting is on, so that the form switches it off. */
  readonly isOn: boolean
  readonly children: string
}

function Change({ address, runner, field, isOn, children }: ChangeProps): JSX.Element {
  return (
    <form method="post" action={address}>
      <input type="hidden" name="id" value={String(runner.id)} />
      <input type="hidden" name={field} value={isOn ? 'no' : 'yes'} />
      <button type="submit" aria-label={`${children}: ${runner.name}`}>
        {children}
      </button>
    </form>
  )
}
