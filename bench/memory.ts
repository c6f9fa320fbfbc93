import { readFileSync, writeFileSync } from 'node:fs'
import { MAX_BODY_BYTES } from '../src/http/body.ts'
import { type Chapter, rough } from './chapter.ts'
import { ours } from './contestants.ts'
import { heapOf } from './heap.ts'
import { send } from './http.ts'
import { newBulks, type Transaction } from './records.ts'
import type { World } from './world.ts'

const MIB = 2 ** 20

/** Members that no transaction has, so that a body has nearly as many values as are taken. */
const UNKNOWN = 240

/** What a Worker needs for the largest bodies: the platform gives it 128 MB. */
export async function memory({ another }: World): Promise<Chapter> {
  const [{ records, body }] = newBulks(1) as [ReturnType<typeof newBulks>[number]]
  const rows: string[][] = []
  for (const [i, [name, status, sent]] of (
    [
      ['records as usual', 200, body],
      ['long texts, all escaped', 200, escapedTexts(records)],
      [`${UNKNOWN} unknown members each, refused`, 422, manyMembers(records)],
    ] as const
  ).entries()) {
    // Each in a Worker that has seen nothing else.
    const running = await another(`memory-${i}`, { inspected: true })
    const us = ours('ours', running, {})
    await us.renew()
    const heap = await heapOf(await running.inspector(), 'bench')
    const before = await heap.now()
    const resident = residentPeak(running.pids)
    const url = new URL('/api/v1/forex/transactions', running.url)
    const headers = { ...us.authorization(), 'Content-Type': 'application/json' }
    const most = await heap.most(async () => {
      const answer = await send(url, { body: sent, headers })
      if (answer.status !== status)
        throw new Error(`${answer.status}: ${answer.text.slice(0, 500)}`)
    })
    rows.push([name, ...[sent.length, before, most].map((n) => rough(n / MIB)), resident()])
    heap.end()
    await running.end()
  }
  return {
    title: 'Memory of a maximal body',
    says: `MiB, of 128 that the platform gives: the heap that V8 took for the Worker, garbage and buffers included, as its debugger tells, in a Worker that has served nothing else. The process holds other isolates and the database, too.`,
    tables: [
      [
        ['1000 records', 'body', 'heap before', 'heap, at most', 'whole process, at most more'],
        ...rows,
      ],
    ],
  }
}

/** The records, with texts so long that the body has nearly the most bytes that are taken. */
function escapedTexts(records: readonly Transaction[]): string {
  // A character beyond the first 65,536 is twelve bytes if it is escaped, and one of at most 500.
  const escaped = '\\ud83d\\ude00'
  const place = { note: '@', transaction_subtype: '#' }
  const plain = JSON.stringify(records.map((record) => ({ ...record, ...place })))
  const each = Math.floor((MAX_BODY_BYTES - plain.length) / records.length / escaped.length)
  return plain
    .replaceAll('"@"', `"${escaped.repeat(Math.min(500, each))}"`)
    .replaceAll('"#"', `"${escaped.repeat(Math.max(1, Math.min(500, each - 500)))}"`)
}

function manyMembers(records: readonly Transaction[]): string {
  const unknown = Object.fromEntries(Array.from({ length: UNKNOWN }, (_, i) => [`m${i}`, '@']))
  const plain = JSON.stringify(records.map((record) => ({ ...record, ...unknown })))
  const each = Math.floor((MAX_BODY_BYTES - plain.length) / records.length / UNKNOWN)
  return plain.replaceAll('"@"', `"${'x'.repeat(each)}"`)
}

/** By how many MiB some processes grow from now on, at their most; where the kernel tells. */
function residentPeak(pids: readonly number[]): () => string {
  const most = () =>
    pids.reduce((sum, pid) => {
      const [, kib] = /^VmHWM:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
      return sum + Number(kib)
    }, 0)
  try {
    for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, '5')
    const before = most()
    return () => rough((most() - before) / 1024)
  } catch {
    return () => 'n/a'
  }
}
