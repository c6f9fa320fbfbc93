import { readFileSync, writeFileSync } from 'node:fs'
import { inspectorOf } from '../bench/inspector.ts'
import { type Service, WORKER } from './service.ts'

const MIB = 1024 * 1024

/** Formats bytes as MiB. */
export const mib = (bytes: number) => `${(bytes / MIB).toFixed(1)} MiB`

/** Returns the resident memory of a process and its peak, in bytes. */
export function residentOf(pid: number): { now: number; most: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const of = (name: string) => Number(new RegExp(`${name}:\\s*(\\d+) kB`).exec(status)?.[1]) * 1024
  return { now: of('VmRSS'), most: of('VmHWM') }
}

/** Resets the peak memory of a process. @see proc_pid_clear_refs(5) */
export const forgetPeak = (pid: number) => writeFileSync(`/proc/${pid}/clear_refs`, '5')

/** The memory of an isolate: used heap of V8 and buffers outside it, in bytes. */
export interface Heap {
  used: number
  buffers: number
}

/** Measures the isolate of the service through V8's inspector, which answers between two turns. */
export async function watchHeap({ miniflare }: Service) {
  const { ask, end } = await inspectorOf(await miniflare.getInspectorURL(), WORKER)
  const heap = async (): Promise<Heap> => {
    const { usedSize, backingStorageSize } = await ask<{
      usedSize: number
      backingStorageSize: number
    }>('Runtime.getHeapUsage')
    return { used: usedSize, buffers: backingStorageSize }
  }
  return {
    heap,
    /** Measures after a garbage collection, which also frees the inspector's copies of the log. */
    async collected(): Promise<Heap> {
      for (const method of ['Runtime.discardConsoleEntries', 'HeapProfiler.collectGarbage']) {
        await ask(method)
      }
      return heap()
    },
    end,
  }
}
