import type { CommandId } from './contributions/names.ts';
import type { Command } from './commands/command.ts';
import { askAboutFailure } from './commands/failures/askAboutFailure.ts';
import { copyFailure } from './commands/failures/copyFailure.ts';
import { explainFailure } from './commands/failures/explainFailure.ts';
import { stopFailureAnswer } from './commands/failures/stopFailureAnswer.ts';
import { answerJob } from './commands/flows/answerJob.ts';
import { debugFlow } from './commands/flows/debugFlow.ts';
import { newFlow } from './commands/flows/newFlow.ts';
import { setUpTypes } from './commands/flows/setUpTypes.ts';
import { openCanvas } from './commands/flows/openCanvas.ts';
import { openTrace } from './commands/flows/openTrace.ts';
import { openPrompts } from './commands/flows/openPrompts.ts';
import { readFlowByRunning } from './commands/flows/readFlowByRunning.ts';
import { replayFlow } from './commands/flows/replayFlow.ts';
import { runFlow } from './commands/flows/runFlow.ts';
import { showFlowOutput } from './commands/flows/showFlowOutput.ts';
import { stopFlow } from './commands/flows/stopFlow.ts';
import { submitFlow } from './commands/flows/submitFlow.ts';
import { tryPrompt } from './commands/flows/tryPrompt.ts';
import { addJob } from './commands/jobList/addJob.ts';
import { cancelJob } from './commands/jobs/cancelJob.ts';
import { clearJobFilter } from './commands/jobList/clearJobFilter.ts';
import { comparePlots } from './commands/jobs/comparePlots.ts';
import { compareSubmitted } from './commands/jobs/compareSubmitted.ts';
import { copyJobId } from './commands/jobs/copyJobId.ts';
import { copyJobLink } from './commands/jobs/copyJobLink.ts';
import { downloadResults } from './commands/jobs/downloadResults.ts';
import { findInLog } from './commands/logs/findInLog.ts';
import { openFullLog } from './commands/logs/openFullLog.ts';
import { saveLog } from './commands/logs/saveLog.ts';
import { showFirstError } from './commands/logs/showFirstError.ts';
import { filterJobs } from './commands/jobList/filterJobs.ts';
import { groupJobs } from './commands/jobList/groupJobs.ts';
import { pinJob, unpinJob } from './commands/jobList/pinJob.ts';
import { refreshJobs } from './commands/jobList/refreshJobs.ts';
import { removeJob } from './commands/jobList/removeJob.ts';
import { resubmitJob } from './commands/jobs/resubmitJob.ts';
import { showEvents } from './commands/jobs/showEvents.ts';
import { showJobPage } from './commands/jobs/showJobPage.ts';
import { showLog } from './commands/jobs/showLog.ts';
import { showMoreJobs } from './commands/jobList/showMoreJobs.ts';
import { askAboutResults } from './commands/search/askAboutResults.ts';
import { askAgain } from './commands/search/askAgain.ts';
import { askFolder } from './commands/search/askFolder.ts';
import { askFollowUp } from './commands/search/askFollowUp.ts';
import { clearSearches } from './commands/search/clearSearches.ts';
import { findRelated } from './commands/search/findRelated.ts';
import { pauseIndex } from './commands/search/pauseIndex.ts';
import { rankByMeaning } from './commands/search/rankByMeaning.ts';
import { rebuildIndex } from './commands/search/rebuildIndex.ts';
import { resumeIndex } from './commands/search/resumeIndex.ts';
import { searchFolder } from './commands/search/searchFolder.ts';
import { selectModel } from './commands/search/selectModel.ts';
import { toggleOtherPlaces } from './commands/search/toggleOtherPlaces.ts';
import { stopAnswer } from './commands/search/stopAnswer.ts';
import { openLog } from './commands/services/openLog.ts';
import { openSettings } from './commands/services/openSettings.ts';
import { connectMachine } from './commands/services/connectMachine.ts';
import { selectHost } from './commands/services/selectHost.ts';
import { removeSecret, setSecret } from './commands/services/secrets.ts';
import { setBudget } from './commands/services/setBudget.ts';
import { signIn } from './commands/services/signIn.ts';
import { signOut } from './commands/services/signOut.ts';
import { browseResults } from './commands/results/browseResults.ts';
import { closeResults } from './commands/results/closeResults.ts';
import { compareResult } from './commands/results/compareResult.ts';
import { saveResults } from './commands/results/saveResults.ts';
import { createSampleFolder } from './commands/submit/createSampleFolder.ts';
import { openWalkthrough } from './commands/submit/openWalkthrough.ts';
import { openOwnFolder } from './commands/submit/openOwnFolder.ts';
import { openIgnoreRule } from './commands/submit/openIgnoreRule.ts';
import { returnToSubmit } from './commands/submit/returnToSubmit.ts';
import { cancelSweep } from './commands/sweeps/cancelSweep.ts';
import { editSweepJob } from './commands/sweeps/editSweepJob.ts';
import { resumeSweep } from './commands/sweeps/resumeSweep.ts';
import { showSweep } from './commands/sweeps/showSweep.ts';
import { submitFile } from './commands/submit/submitFile.ts';
import { submitProfile } from './commands/submit/submitProfile.ts';
import { submitWorkspace } from './commands/submit/submitWorkspace.ts';

/** The commands of the manifest. */
export const commands: Readonly<Record<CommandId, Command>> = {
  'farwharf.openWalkthrough': openWalkthrough,
  'farwharf.createSampleFolder': createSampleFolder,
  'farwharf.openOwnFolder': openOwnFolder,
  'farwharf.submitWorkspace': submitWorkspace,
  'farwharf.submitFile': submitFile,
  'farwharf.submitProfile': submitProfile,
  'farwharf.returnToSubmit': returnToSubmit,
  'farwharf.openIgnoreRule': openIgnoreRule,
  'farwharf.showLog': showLog,
  'farwharf.showJobPage': showJobPage,
  'farwharf.comparePlots': comparePlots,
  'farwharf.compareSubmitted': compareSubmitted,
  'farwharf.explainFailure': explainFailure,
  'farwharf.askAboutFailure': askAboutFailure,
  'farwharf.copyFailure': copyFailure,
  'farwharf.stopFailureAnswer': stopFailureAnswer,
  'farwharf.openFullLog': openFullLog,
  'farwharf.findInLog': findInLog,
  'farwharf.showFirstError': showFirstError,
  'farwharf.saveLog': saveLog,
  'farwharf.showEvents': showEvents,
  'farwharf.cancelJob': cancelJob,
  'farwharf.downloadResults': downloadResults,
  'farwharf.browseResults': browseResults,
  'farwharf.saveResults': saveResults,
  'farwharf.compareResult': compareResult,
  'farwharf.closeResults': closeResults,
  'farwharf.resubmitJob': resubmitJob,
  'farwharf.answerJob': answerJob,
  'farwharf.copyJobId': copyJobId,
  'farwharf.copyJobLink': copyJobLink,
  'farwharf.removeJob': removeJob,
  'farwharf.pinJob': pinJob,
  'farwharf.unpinJob': unpinJob,
  'farwharf.addJob': addJob,
  'farwharf.filterJobs': filterJobs,
  'farwharf.clearJobFilter': clearJobFilter,
  'farwharf.groupJobs': groupJobs,
  'farwharf.showMoreJobs': showMoreJobs,
  'farwharf.refreshJobs': refreshJobs,
  'farwharf.showSweep': showSweep,
  'farwharf.resumeSweep': resumeSweep,
  'farwharf.cancelSweep': cancelSweep,
  'farwharf.editSweepJob': editSweepJob,
  'farwharf.selectHost': selectHost,
  'farwharf.connectMachine': connectMachine,
  'farwharf.signIn': signIn,
  'farwharf.signOut': signOut,
  'farwharf.setBudget': setBudget,
  'farwharf.setSecret': setSecret,
  'farwharf.removeSecret': removeSecret,
  'farwharf.openSettings': openSettings,
  'farwharf.openLog': openLog,
  'farwharf.searchFolder': searchFolder,
  'farwharf.clearSearches': clearSearches,
  'farwharf.toggleOtherPlaces': toggleOtherPlaces,
  'farwharf.askAboutResults': askAboutResults,
  'farwharf.askFolder': askFolder,
  'farwharf.askFollowUp': askFollowUp,
  'farwharf.askAgain': askAgain,
  'farwharf.stopAnswer': stopAnswer,
  'farwharf.selectModel': selectModel,
  'farwharf.findRelated': findRelated,
  'farwharf.rebuildIndex': rebuildIndex,
  'farwharf.rankByMeaning': rankByMeaning,
  'farwharf.pauseIndex': pauseIndex,
  'farwharf.resumeIndex': resumeIndex,
  'farwharf.newFlow': newFlow,
  'farwharf.setUpTypes': setUpTypes,
  'farwharf.openCanvas': openCanvas,
  'farwharf.readFlowByRunning': readFlowByRunning,
  'farwharf.runFlow': runFlow,
  'farwharf.debugFlow': debugFlow,
  'farwharf.submitFlow': submitFlow,
  'farwharf.replayFlow': replayFlow,
  'farwharf.stopFlow': stopFlow,
  'farwharf.openTrace': openTrace,
  'farwharf.openPrompts': openPrompts,
  'farwharf.tryPrompt': tryPrompt,
  'farwharf.showFlowOutput': showFlowOutput,
};
