import { readFileSync, writeFileSync } from 'node:fs'
import { MAX_BODY_BYTES } from '../src/http/body-limit.ts'
import { measureJson } from '../src/http/body-size.ts'
import { weigh } from '../src/http/body-weight.ts'
import { MAX_WEIGHT } from '../src/http/memory-queues.ts'
import { type Chapter, formatTenths } from './chapter.ts'
import { ours } from './contestants.ts'
import { heapOf } from './heap.ts'
import { send } from './http.ts'
import { newBulks, type Transaction } from './records.ts'
import type { World } from './world.ts'

const MIB = 2 ** 20

/** Unknown members, which bring a body near the limit of values. */
const UNKNOWN = 240

/** Measures the memory of a Worker for the largest bodies. The platform grants 128 MB. */
export async function memory({ startInstance }: World): Promise<Chapter> {
  const [{ records, body }] = newBulks(1) as [ReturnType<typeof newBulks>[number]]
  const rows: string[][] = []
  for (const [i, [name, status, sent]] of (
    [
      ['records as usual', 200, body],
      ['long texts, all escaped', 200, escapedTexts(records)],
      [`${UNKNOWN} unknown members each, refused`, 422, manyMembers(records)],
    ] as const
  ).entries()) {
    // Each runs in a new Worker.
    const running = await startInstance(`memory-${i}`, { inspected: true })
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
    rows.push([name, ...[sent.length, before, most].map((n) => formatTenths(n / MIB)), resident()])
    heap.end()
    await running.end()
  }
  return {
    title: 'Memory of a maximal body',
    notes: `MiB, of the platform's 128: the heap that V8 allocated for the Worker, including garbage and buffers, by its inspector, in a new Worker. The process also holds other isolates and the database.`,
    tables: [
      [
        ['1000 records', 'body', 'heap before', 'heap, at most', 'whole process, at most more'],
        ...rows,
      ],
    ],
  }
}

/** Lengthens texts until the body is near the limit of bytes or the one of memory. */
function escapedTexts(records: readonly Transaction[]): string {
  // An escaped character beyond the basic plane is 12 bytes, and counts once towards the 500.
  const escaped = '\\ud83d\\ude00'
  const place = { note: '@', transaction_subtype: '#' }
  const plain = JSON.stringify(records.map((record) => ({ ...record, ...place })))
  const bodyOf = (each: number) =>
    plain
      .replaceAll('"@"', `"${escaped.repeat(Math.min(500, each))}"`)
      .replaceAll('"#"', `"${escaped.repeat(Math.max(1, Math.min(500, each - 500)))}"`)
  let each = Math.floor((MAX_BODY_BYTES - plain.length) / records.length / escaped.length)
  while (weightOf(bodyOf(each)) > MAX_WEIGHT) each -= 10
  return bodyOf(each)
}

const weightOf = (body: string) => weigh(measureJson([Buffer.from(body)])).weight

function manyMembers(records: readonly Transaction[]): string {
  const unknown = Object.fromEntries(Array.from({ length: UNKNOWN }, (_, i) => [`m${i}`, '@']))
  const plain = JSON.stringify(records.map((record) => ({ ...record, ...unknown })))
  const each = Math.floor((MAX_BODY_BYTES - plain.length) / records.length / UNKNOWN)
  return plain.replaceAll('"@"', `"${'x'.repeat(each)}"`)
}

/** Measures the peak growth of processes in MiB, where the kernel reports it. */
function residentPeak(pids: readonly number[]): () => string {
  const most = () =>
    pids.reduce((sum, pid) => {
      const [, kib] = /^VmHWM:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
      return sum + Number(kib)
    }, 0)
  try {
    for (const pid of pids) writeFileSync(`/proc/${pid}/clear_refs`, '5')
    const before = most()
    return () => formatTenths((most() - before) / 1024)
  } catch {
    return () => 'n/a'
  }
}
