/** Messages of messages.proto: their types and descriptors. Generated; see CONTRIBUTING.md. */

import type { JsonObject, Message } from '@bufbuild/protobuf'
import type { GenEnum, GenFile, GenMessage } from '@bufbuild/protobuf/codegenv2'
import { enumDesc, fileDesc, messageDesc } from '@bufbuild/protobuf/codegenv2'
import type { Timestamp } from '@bufbuild/protobuf/wkt'
import { file_google_protobuf_struct, file_google_protobuf_timestamp } from '@bufbuild/protobuf/wkt'

export const fileOfMessages: GenFile = fileDesc(
  'ChVydW5uZXJfbWVzc2FnZXMucHJvdG8SCXJ1bm5lci52MSKlAQoPUmVnaXN0ZXJSZXF1ZXN0EgwKBG5hbWUYASABKAkSDQoFdG9rZW4YAiABKAkSFAoMYWdlbnRfbGFiZWxzGAMgAygJEhUKDWN1c3RvbV9sYWJlbHMYBCADKAkSDwoHdmVyc2lvbhgFIAEoCRIOCgZsYWJlbHMYBiADKAkSEQoJZXBoZW1lcmFsGAcgASgIEhQKDGNhcGFiaWxpdGllcxgIIAMoCSI1ChBSZWdpc3RlclJlc3BvbnNlEiEKBnJ1bm5lchgBIAEoCzIRLnJ1bm5lci52MS5SdW5uZXIiRwoORGVjbGFyZVJlcXVlc3QSDwoHdmVyc2lvbhgBIAEoCRIOCgZsYWJlbHMYAiADKAkSFAoMY2FwYWJpbGl0aWVzGAMgAygJIjQKD0RlY2xhcmVSZXNwb25zZRIhCgZydW5uZXIYASABKAsyES5ydW5uZXIudjEuUnVubmVyIlcKEEZldGNoVGFza1JlcXVlc3QSFQoNdGFza3NfdmVyc2lvbhgBIAEoAxIaCg10YXNrX2NhcGFjaXR5GAIgASgDSACIAQFCEAoOX3Rhc2tfY2FwYWNpdHkidAoRRmV0Y2hUYXNrUmVzcG9uc2USHQoEdGFzaxgBIAEoCzIPLnJ1bm5lci52MS5UYXNrEhUKDXRhc2tzX3ZlcnNpb24YAiABKAMSKQoQYWRkaXRpb25hbF90YXNrcxgDIAMoCzIPLnJ1bm5lci52MS5UYXNrIqQBChFVcGRhdGVUYXNrUmVxdWVzdBIjCgVzdGF0ZRgBIAEoCzIULnJ1bm5lci52MS5UYXNrU3RhdGUSOgoHb3V0cHV0cxgCIAMoCzIpLnJ1bm5lci52MS5VcGRhdGVUYXNrUmVxdWVzdC5PdXRwdXRzRW50cnkaLgoMT3V0cHV0c0VudHJ5EgsKA2tleRgBIAEoCRINCgV2YWx1ZRgCIAEoCToCOAEiTwoSVXBkYXRlVGFza1Jlc3BvbnNlEiMKBXN0YXRlGAEgASgLMhQucnVubmVyLnYxLlRhc2tTdGF0ZRIUCgxzZW50X291dHB1dHMYAiADKAkiZAoQVXBkYXRlTG9nUmVxdWVzdBIPCgd0YXNrX2lkGAEgASgDEg0KBWluZGV4GAIgASgDEh8KBHJvd3MYAyADKAsyES5ydW5uZXIudjEuTG9nUm93Eg8KB25vX21vcmUYBCABKAgiJgoRVXBkYXRlTG9nUmVzcG9uc2USEQoJYWNrX2luZGV4GAEgASgDIskBCgZSdW5uZXISCgoCaWQYASABKAMSDAoEdXVpZBgCIAEoCRINCgV0b2tlbhgDIAEoCRIMCgRuYW1lGAQgASgJEicKBnN0YXR1cxgFIAEoDjIXLnJ1bm5lci52MS5SdW5uZXJTdGF0dXMSFAoMYWdlbnRfbGFiZWxzGAYgAygJEhUKDWN1c3RvbV9sYWJlbHMYByADKAkSDwoHdmVyc2lvbhgIIAEoCRIOCgZsYWJlbHMYCSADKAkSEQoJZXBoZW1lcmFsGAogASgIIrUDCgRUYXNrEgoKAmlkGAEgASgDEh0KEHdvcmtmbG93X3BheWxvYWQYAiABKAxIAIgBARItCgdjb250ZXh0GAMgASgLMhcuZ29vZ2xlLnByb3RvYnVmLlN0cnVjdEgBiAEBEi0KB3NlY3JldHMYBCADKAsyHC5ydW5uZXIudjEuVGFzay5TZWNyZXRzRW50cnkSDwoHbWFjaGluZRgFIAEoCRIpCgVuZWVkcxgGIAMoCzIaLnJ1bm5lci52MS5UYXNrLk5lZWRzRW50cnkSJwoEdmFycxgHIAMoCzIZLnJ1bm5lci52MS5UYXNrLlZhcnNFbnRyeRouCgxTZWNyZXRzRW50cnkSCwoDa2V5GAEgASgJEg0KBXZhbHVlGAIgASgJOgI4ARpBCgpOZWVkc0VudHJ5EgsKA2tleRgBIAEoCRIiCgV2YWx1ZRgCIAEoCzITLnJ1bm5lci52MS5UYXNrTmVlZDoCOAEaKwoJVmFyc0VudHJ5EgsKA2tleRgBIAEoCRINCgV2YWx1ZRgCIAEoCToCOAFCEwoRX3dvcmtmbG93X3BheWxvYWRCCgoIX2NvbnRleHQikAEKCFRhc2tOZWVkEjEKB291dHB1dHMYASADKAsyIC5ydW5uZXIudjEuVGFza05lZWQuT3V0cHV0c0VudHJ5EiEKBnJlc3VsdBgCIAEoDjIRLnJ1bm5lci52MS5SZXN1bHQaLgoMT3V0cHV0c0VudHJ5EgsKA2tleRgBIAEoCRINCgV2YWx1ZRgCIAEoCToCOAEivwEKCVRhc2tTdGF0ZRIKCgJpZBgBIAEoAxIhCgZyZXN1bHQYAiABKA4yES5ydW5uZXIudjEuUmVzdWx0Ei4KCnN0YXJ0ZWRfYXQYAyABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEi4KCnN0b3BwZWRfYXQYBCABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEiMKBXN0ZXBzGAUgAygLMhQucnVubmVyLnYxLlN0ZXBTdGF0ZSLBAQoJU3RlcFN0YXRlEgoKAmlkGAEgASgDEiEKBnJlc3VsdBgCIAEoDjIRLnJ1bm5lci52MS5SZXN1bHQSLgoKc3RhcnRlZF9hdBgDIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASLgoKc3RvcHBlZF9hdBgEIAEoCzIaLmdvb2dsZS5wcm90b2J1Zi5UaW1lc3RhbXASEQoJbG9nX2luZGV4GAUgASgDEhIKCmxvZ19sZW5ndGgYBiABKAMiQwoGTG9nUm93EigKBHRpbWUYASABKAsyGi5nb29nbGUucHJvdG9idWYuVGltZXN0YW1wEg8KB2NvbnRlbnQYAiABKAkiVgoYVXBkYXRlU3RlcFN1bW1hcnlSZXF1ZXN0Eg8KB3Rhc2tfaWQYASABKAMSKQoJc3VtbWFyaWVzGAIgAygLMhYucnVubmVyLnYxLlN0ZXBTdW1tYXJ5IjMKC1N0ZXBTdW1tYXJ5EhMKC3N0ZXBfbnVtYmVyGAEgASgDEg8KB2NvbnRlbnQYAiABKAkiGwoZVXBkYXRlU3RlcFN1bW1hcnlSZXNwb25zZSIbCgtQaW5nUmVxdWVzdBIMCgRkYXRhGAEgASgJIhwKDFBpbmdSZXNwb25zZRIMCgRkYXRhGAEgASgJKnoKDFJ1bm5lclN0YXR1cxIdChlSVU5ORVJfU1RBVFVTX1VOU1BFQ0lGSUVEEAASFgoSUlVOTkVSX1NUQVRVU19JRExFEAESGAoUUlVOTkVSX1NUQVRVU19BQ1RJVkUQAhIZChVSVU5ORVJfU1RBVFVTX09GRkxJTkUQAypyCgZSZXN1bHQSFgoSUkVTVUxUX1VOU1BFQ0lGSUVEEAASEgoOUkVTVUxUX1NVQ0NFU1MQARISCg5SRVNVTFRfRkFJTFVSRRACEhQKEFJFU1VMVF9DQU5DRUxMRUQQAxISCg5SRVNVTFRfU0tJUFBFRBAEYgZwcm90bzM',
  [file_google_protobuf_struct, file_google_protobuf_timestamp],
)

export type RegisterRequest = Message<'runner.v1.RegisterRequest'> & {
  name: string
  token: string
  agentLabels: string[]
  customLabels: string[]
  version: string
  labels: string[]
  ephemeral: boolean
  capabilities: string[]
}

export const RegisterRequestSchema: GenMessage<RegisterRequest> = messageDesc(fileOfMessages, 0)

export type RegisterResponse = Message<'runner.v1.RegisterResponse'> & {
  runner?: Runner | undefined
}

export const RegisterResponseSchema: GenMessage<RegisterResponse> = messageDesc(fileOfMessages, 1)

export type DeclareRequest = Message<'runner.v1.DeclareRequest'> & {
  version: string
  labels: string[]
  capabilities: string[]
}

export const DeclareRequestSchema: GenMessage<DeclareRequest> = messageDesc(fileOfMessages, 2)

export type DeclareResponse = Message<'runner.v1.DeclareResponse'> & {
  runner?: Runner | undefined
}

export const DeclareResponseSchema: GenMessage<DeclareResponse> = messageDesc(fileOfMessages, 3)

export type FetchTaskRequest = Message<'runner.v1.FetchTaskRequest'> & {
  tasksVersion: bigint
  taskCapacity?: bigint | undefined
}

export const FetchTaskRequestSchema: GenMessage<FetchTaskRequest> = messageDesc(fileOfMessages, 4)

export type FetchTaskResponse = Message<'runner.v1.FetchTaskResponse'> & {
  task?: Task | undefined
  tasksVersion: bigint
  additionalTasks: Task[]
}

export const FetchTaskResponseSchema: GenMessage<FetchTaskResponse> = messageDesc(fileOfMessages, 5)

export type UpdateTaskRequest = Message<'runner.v1.UpdateTaskRequest'> & {
  state?: TaskState | undefined
  outputs: { [key: string]: string }
}

export const UpdateTaskRequestSchema: GenMessage<UpdateTaskRequest> = messageDesc(fileOfMessages, 6)

export type UpdateTaskResponse = Message<'runner.v1.UpdateTaskResponse'> & {
  state?: TaskState | undefined
  sentOutputs: string[]
}

export const UpdateTaskResponseSchema: GenMessage<UpdateTaskResponse> = messageDesc(
  fileOfMessages,
  7,
)

export type UpdateLogRequest = Message<'runner.v1.UpdateLogRequest'> & {
  taskId: bigint
  index: bigint
  rows: LogRow[]
  noMore: boolean
}

export const UpdateLogRequestSchema: GenMessage<UpdateLogRequest> = messageDesc(fileOfMessages, 8)

export type UpdateLogResponse = Message<'runner.v1.UpdateLogResponse'> & {
  ackIndex: bigint
}

export const UpdateLogResponseSchema: GenMessage<UpdateLogResponse> = messageDesc(fileOfMessages, 9)

export type Runner = Message<'runner.v1.Runner'> & {
  id: bigint
  uuid: string
  token: string
  name: string
  status: RunnerStatus
  agentLabels: string[]
  customLabels: string[]
  version: string
  labels: string[]
  ephemeral: boolean
}

export const RunnerSchema: GenMessage<Runner> = messageDesc(fileOfMessages, 10)

export type Task = Message<'runner.v1.Task'> & {
  id: bigint
  workflowPayload?: Uint8Array | undefined
  context?: JsonObject | undefined
  secrets: { [key: string]: string }
  machine: string
  needs: { [key: string]: TaskNeed }
  vars: { [key: string]: string }
}

export const TaskSchema: GenMessage<Task> = messageDesc(fileOfMessages, 11)

export type TaskNeed = Message<'runner.v1.TaskNeed'> & {
  outputs: { [key: string]: string }
  result: Result
}

export const TaskNeedSchema: GenMessage<TaskNeed> = messageDesc(fileOfMessages, 12)

export type TaskState = Message<'runner.v1.TaskState'> & {
  id: bigint
  result: Result
  startedAt?: Timestamp | undefined
  stoppedAt?: Timestamp | undefined
  steps: StepState[]
}

export const TaskStateSchema: GenMessage<TaskState> = messageDesc(fileOfMessages, 13)

export type StepState = Message<'runner.v1.StepState'> & {
  id: bigint
  result: Result
  startedAt?: Timestamp | undefined
  stoppedAt?: Timestamp | undefined
  logIndex: bigint
  logLength: bigint
}

export const StepStateSchema: GenMessage<StepState> = messageDesc(fileOfMessages, 14)

export type LogRow = Message<'runner.v1.LogRow'> & {
  time?: Timestamp | undefined
  content: string
}

export const LogRowSchema: GenMessage<LogRow> = messageDesc(fileOfMessages, 15)

export type UpdateStepSummaryRequest = Message<'runner.v1.UpdateStepSummaryRequest'> & {
  taskId: bigint
  summaries: StepSummary[]
}

export const UpdateStepSummaryRequestSchema: GenMessage<UpdateStepSummaryRequest> = messageDesc(
  fileOfMessages,
  16,
)

export type StepSummary = Message<'runner.v1.StepSummary'> & {
  stepNumber: bigint
  content: string
}

export const StepSummarySchema: GenMessage<StepSummary> = messageDesc(fileOfMessages, 17)

export type UpdateStepSummaryResponse = Message<'runner.v1.UpdateStepSummaryResponse'>

export const UpdateStepSummaryResponseSchema: GenMessage<UpdateStepSummaryResponse> = messageDesc(
  fileOfMessages,
  18,
)

export type PingRequest = Message<'runner.v1.PingRequest'> & {
  data: string
}

export const PingRequestSchema: GenMessage<PingRequest> = messageDesc(fileOfMessages, 19)

export type PingResponse = Message<'runner.v1.PingResponse'> & {
  data: string
}

export const PingResponseSchema: GenMessage<PingResponse> = messageDesc(fileOfMessages, 20)

export const RunnerStatus = {
  UNSPECIFIED: 0,
  IDLE: 1,
  ACTIVE: 2,
  OFFLINE: 3,
} as const

export type RunnerStatus = (typeof RunnerStatus)[keyof typeof RunnerStatus]

export const RunnerStatusSchema: GenEnum<RunnerStatus> = enumDesc(fileOfMessages, 0)

export const Result = {
  UNSPECIFIED: 0,
  SUCCESS: 1,
  FAILURE: 2,
  CANCELLED: 3,
  SKIPPED: 4,
} as const

export type Result = (typeof Result)[keyof typeof Result]

export const ResultSchema: GenEnum<Result> = enumDesc(fileOfMessages, 1)
