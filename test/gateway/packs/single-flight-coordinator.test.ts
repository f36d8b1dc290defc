/** The coordinator of single flights: one worker leads, others join, and each gets its messages. */

import t from 'tap'
import {
  SingleFlightCoordinator,
  type SingleFlightNotice,
} from '../../../gateway/packs/single-flight-coordinator.js'

function aCoordinator() {
  let told: (readonly [member: number, notification: SingleFlightNotice])[] = []
  const board = new SingleFlightCoordinator(
    { folder: '/packs', name: 'g' },
    (member, notification) => told.push([member, notification]),
  )
  const want = (member: number, id: number, key = 'k') =>
    board.take(member, { act: 'want', id, key })
  return {
    board,
    want,
    /** Returns the messages sent since the last call. */
    told() {
      const notification = told
      told = []
      return notification
    },
  }
}

const PATH = '/packs/k.g-1.part'

/** Creates an in-flight answer that worker 1 leads and workers 2 and 3 have joined. */
function anInFlightAnswer() {
  const made = aCoordinator()
  made.want(1, 10)
  made.want(2, 20)
  made.want(3, 30)
  made.told()
  return made
}

const ended = (bytes: number | undefined) => ({ act: 'ended', path: PATH, bytes }) as const

t.test('the first worker leads and the others join, separately for each key', async (t) => {
  const { want, told } = aCoordinator()
  want(1, 10)
  want(2, 20)
  want(3, 30, 'other')
  t.strictSame(told(), [
    [1, { act: 'board', id: 10, path: PATH, role: 'leader', bytes: undefined }],
    [1, { act: 'joiners', path: PATH, count: 1 }],
    [2, { act: 'board', id: 20, path: PATH, role: 'joiner', bytes: undefined }],
    [3, { act: 'board', id: 30, path: '/packs/other.g-2.part', role: 'leader', bytes: undefined }],
  ])
})

t.test('a leader that starts the same key again gets a new file', async (t) => {
  const { board, want, told } = anInFlightAnswer()
  want(1, 11)
  const path = '/packs/k.g-2.part'
  t.match(told(), [[1, { role: 'leader', path }]])
  want(4, 40)
  t.match(told(), [
    [1, { act: 'joiners', path }],
    [4, { role: 'joiner', path }],
  ])
  board.take(1, { act: 'moved', path: PATH })
  want(5, 50)
  t.match(told(), [
    [1, { act: 'joiners', path }],
    [5, { role: 'joiner', path }],
  ])
})

t.test('the leader is notified of the number of joiners when one leaves or dies', async (t) => {
  const { board, told } = anInFlightAnswer()
  board.take(2, { act: 'left', path: PATH })
  t.strictSame(told(), [[1, { act: 'joiners', path: PATH, count: 1 }]])
  t.strictSame(board.lose(3), [])
  t.strictSame(told(), [[1, { act: 'joiners', path: PATH, count: 0 }]])
})

t.test(
  'the end is sent to all joiners, also to those that join before the file is moved',
  async (t) => {
    const { board, want, told } = anInFlightAnswer()
    board.take(1, ended(99))
    t.strictSame(told(), [
      [2, ended(99)],
      [3, ended(99)],
    ])
    want(4, 40)
    t.strictSame(told(), [
      [1, { act: 'joiners', path: PATH, count: 3 }],
      [4, { act: 'board', id: 40, path: PATH, role: 'joiner', bytes: 99 }],
    ])
    board.take(1, { act: 'moved', path: PATH })
    want(5, 50)
    t.match(told(), [[5, { role: 'leader', path: '/packs/k.g-2.part' }]])
    board.take(2, { act: 'left', path: PATH })
    t.strictSame(told(), [], 'a finished flight sends no messages')
  },
)

t.test('a failed key can be started again immediately', async (t) => {
  const { board, want, told } = anInFlightAnswer()
  board.take(1, ended(undefined))
  t.match(told(), [
    [2, ended(undefined)],
    [3, ended(undefined)],
  ])
  want(2, 21)
  t.match(told(), [[2, { role: 'leader', path: '/packs/k.g-2.part' }]])
  board.take(1, { act: 'moved', path: PATH })
  want(3, 31)
  t.match(told(), [
    [2, { act: 'joiners' }],
    [3, { role: 'joiner', path: '/packs/k.g-2.part' }],
  ])
})

t.test(
  'a leader that dies ends its in-flight answers, and the files it leaves are returned',
  async (t) => {
    const { board, want, told } = anInFlightAnswer()
    board.take(1, { act: 'started', path: PATH, groupId: 4711 })
    t.strictSame(board.lose(1), [{ path: PATH, groupId: 4711 }])
    t.strictSame(told(), [
      [2, ended(undefined)],
      [3, ended(undefined)],
    ])
    want(2, 21)
    t.match(told(), [[2, { role: 'leader' }]])
    t.strictSame(board.lose(1), [], 'once')
  },
)

t.test(
  'a leader that dies after the end leaves its readers, and no process group to kill',
  async (t) => {
    const { board, told } = anInFlightAnswer()
    board.take(1, { act: 'started', path: PATH, groupId: 4711 })
    board.take(1, ended(99))
    told()
    t.strictSame(board.lose(1), [{ path: PATH, groupId: undefined }])
    t.strictSame(told(), [])
  },
)
