/** State of a container, as podman reports it. */

import type { Podman } from './podman.js'

/** Health check of a container, with times in milliseconds. */
interface HealthCheck {
  readonly intervalMs: number
  readonly timeoutMs: number
  /** Time after which a container that is not healthy has failed. */
  readonly withinMs: number
}

/** State of a container. */
export interface InspectedContainer {
  readonly isRunning: boolean
  readonly health: HealthCheck | undefined
  /** Folders of programs, separated by colons. */
  readonly searchPath: string
  /** Ports of the machine by those of the container. */
  readonly ports: Readonly<Record<string, string>>
}

/** Reports of podman; its times are in nanoseconds. */
interface Report {
  readonly State: { readonly Running: boolean }
  readonly Config: {
    readonly Env: readonly string[] | null
    readonly Healthcheck?: {
      readonly Test?: readonly string[] | null
      readonly Interval?: number
      readonly Timeout?: number
      readonly StartPeriod?: number
      readonly Retries?: number
    } | null
  }
  readonly NetworkSettings: {
    readonly Ports?: Readonly<
      Record<string, readonly { readonly HostPort: string }[] | null>
    > | null
  }
}

const SEARCH_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const NANOSECONDS = 1_000_000

/** Returns the state of a container. Throws JobFault. */
export async function inspectContainer(podman: Podman, id: string): Promise<InspectedContainer> {
  const output = await podman.run(['container', 'inspect', '--', id])
  const [report] = JSON.parse(output) as readonly Report[]
  if (report === undefined) throw new Error(`podman has not reported the container ${id}`)
  const { State, Config, NetworkSettings } = report
  const ports = Object.entries(NetworkSettings.Ports ?? {}).flatMap(([port, places]) => {
    const [place] = places ?? []
    return place === undefined ? [] : [[port.replace(/\/.*/, ''), place.HostPort] as const]
  })
  return {
    isRunning: State.Running,
    health: healthCheckOf(Config.Healthcheck ?? {}),
    searchPath:
      (Config.Env ?? []).find((text) => text.startsWith('PATH='))?.slice(5) ?? SEARCH_PATH,
    ports: Object.fromEntries(ports),
  }
}

/** Defaults are those of podman-run(1). */
function healthCheckOf({
  Test,
  Interval = 30_000 * NANOSECONDS,
  Timeout = 30_000 * NANOSECONDS,
  StartPeriod = 0,
  Retries = 3,
}: NonNullable<Report['Config']['Healthcheck']>): HealthCheck | undefined {
  if (!Test || Test.length === 0 || Test[0] === 'NONE') return undefined
  const withinMs = (StartPeriod + Math.max(Retries, 1) * Interval + Timeout) / NANOSECONDS
  return { intervalMs: Interval / NANOSECONDS, timeoutMs: Timeout / NANOSECONDS, withinMs }
}
