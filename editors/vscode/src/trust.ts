// Folders that are not trusted: the server is told to run no other program for their files.
import * as vscode from "vscode";
import { ConfigurationMiddleware } from "vscode-languageclient/node";

const SECTION = "cyclelens";
const SETTING = "allowExternalPrograms";

/** For the first moment, until the server has asked for the settings. */
export const initializationOptions = () => ({ [SETTING]: vscode.workspace.isTrusted });

/** The settings as the server sees them. */
export const configuration: ConfigurationMiddleware = {
  configuration: async (params, token, next) => {
    const answer = await next(params, token);
    if (vscode.workspace.isTrusted || !Array.isArray(answer)) {
      return answer;
    }
    return answer.map((values, number) =>
      params.items[number].section === SECTION ? { ...values, [SETTING]: false } : values,
    );
  },
};
