"""The files for stores and registries (dev/stores): filled as in a release, equal to the project, and run
where that works without the stores."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import fill_stores
import pytest
import yaml

ROOT = Path(__file__).parents[2]
METADATA = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT: dict[str, Any] = METADATA["project"]
REPOSITORY = "https://example.org/cyclelens"
ESBUILD = ROOT / "editors/vscode/node_modules/.bin/esbuild"


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The filled files."""
    folder = tmp_path_factory.mktemp("stores")
    sdist = folder / f"cyclelens-{PROJECT['version']}.tar.gz"
    sdist.write_bytes(b"a source distribution")
    options = [
        "--repository",
        f"{REPOSITORY}/",
        "--maintainer",
        "somebody",
        "--output",
        str(folder / "filled"),
    ]
    fill_stores.main(["--sdist", str(sdist), *options])
    return folder / "filled"


def read_yaml(file: Path) -> Any:
    return yaml.safe_load(file.read_text())


def read_toml(file: Path) -> dict[str, Any]:
    return tomllib.loads(file.read_text())


def of_neovim(file: Path, key: str) -> list[str]:
    """A list of strings in a configuration of Neovim."""
    match = re.search(rf"{key} = \{{(.*?)\}}", file.read_text())
    assert match is not None
    return re.findall(r"""["']([^"']+)["']""", match[1])


def test_every_value_is_filled_in(stores: Path) -> None:
    left = [
        file for file in stores.rglob("*") if file.is_file() and re.search(r"@[A-Z_]+@", file.read_text())
    ]
    assert left == []
    assert (stores / "zed/LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_a_value_that_does_not_exist_is_refused() -> None:
    with pytest.raises(fill_stores.Unfilled, match="@NOTHING@"):
        fill_stores.filled("a @NOTHING@", {"VERSION": "1.2.3"})


def test_the_source_distribution_must_be_of_the_version(tmp_path: Path) -> None:
    with pytest.raises(fill_stores.Unfilled, match=r"cyclelens-0\.0\.1"):
        fill_stores.values(PROJECT, [], tmp_path / "cyclelens-0.0.1.tar.gz")


def test_mason_installs_the_program_from_pypi(stores: Path) -> None:
    entry = read_yaml(stores / "mason/package.yaml")
    assert entry["source"]["id"] == f"pkg:pypi/{PROJECT['name']}@{PROJECT['version']}"
    assert {name: f"pypi:{name}" for name in PROJECT["scripts"]} == entry["bin"]
    assert entry["licenses"] == [PROJECT["license"]]
    # The name of the configuration in nvim-lspconfig is that of its file.
    assert (stores / "nvim-lspconfig" / f"{entry['neovim']['lspconfig']}.lua").is_file()


def test_the_configuration_for_neovim_is_that_of_the_own_plugin(stores: Path) -> None:
    ours, sent = ROOT / "editors/neovim/lsp/cyclelens.lua", stores / "nvim-lspconfig/cyclelens.lua"
    for key in ("cmd", "filetypes", "root_markers"):
        assert of_neovim(sent, key) == of_neovim(ours, key) != []


def test_helix_starts_the_server_for_both_kinds_of_assembly(stores: Path) -> None:
    entry = read_toml(stores / "helix/languages.toml")
    assert entry["language-server"]["cyclelens"] == {"command": "cyclelens", "args": ["lsp"]}
    assert [each["name"] for each in entry["language"]] == ["gas", "nasm"]
    assert all("cyclelens" in each["language-servers"] for each in entry["language"])


def test_the_recipe_of_conda_has_the_requirements_of_the_project(stores: Path) -> None:
    recipe = read_yaml(stores / "conda-forge/recipe.yaml")
    assert recipe["context"]["version"] == PROJECT["version"]
    assert recipe["source"]["sha256"] == hashlib.sha256(b"a source distribution").hexdigest()
    (entry,) = (f"{name} = {target}" for name, target in PROJECT["scripts"].items())
    assert recipe["build"]["python"]["entry_points"] == [entry]
    assert recipe["about"]["license_file"] == PROJECT["license-files"]

    def named(requirements: list[Any]) -> set[str]:
        return {each.replace(" ", "") for each in requirements if isinstance(each, str)}

    everywhere = {each.replace(" ", "") for each in PROJECT["dependencies"] if ";" not in each}
    assert named(recipe["requirements"]["run"]) == {"python", *everywhere}
    build = {each.replace(" ", "") for each in METADATA["build-system"]["requires"]}
    assert named(recipe["requirements"]["host"]) >= {"python", *build}


def test_the_extension_for_zed_has_one_version_and_name(stores: Path) -> None:
    extension, crate = read_toml(stores / "zed/extension.toml"), read_toml(stores / "zed/Cargo.toml")
    (name, entry), *rest = read_toml(stores / "zed/extensions.toml").items()
    assert not rest
    assert name == extension["id"] == PROJECT["name"]
    assert {each["version"] for each in (extension, crate["package"], entry)} == {PROJECT["version"]}
    assert extension["repository"] == REPOSITORY
    assert list(extension["language_servers"]) == [extension["id"]]


ZED_API = """
pub type Result<T, E = String> = core::result::Result<T, E>;
pub type EnvVars = Vec<(String, String)>;
pub struct Command { pub command: String, pub args: Vec<String>, pub env: EnvVars }
pub struct LanguageServerId(String);
impl AsRef<str> for LanguageServerId { fn as_ref(&self) -> &str { &self.0 } }
pub struct Worktree;
impl Worktree {
    pub fn which(&self, _: &str) -> Option<String> { None }
    pub fn shell_env(&self) -> EnvVars { Vec::new() }
}
pub mod serde_json { pub struct Value; }
pub mod settings {
    pub struct CommandSettings { pub path: Option<String>, pub arguments: Option<Vec<String>> }
    use crate::serde_json::Value;
    pub struct LspSettings { pub binary: Option<CommandSettings>, pub settings: Option<Value> }
    impl LspSettings {
        pub fn for_worktree(_: &str, _: &crate::Worktree) -> crate::Result<Self> { Err(String::new()) }
    }
}
pub trait Extension {
    fn new() -> Self where Self: Sized;
    fn language_server_command(&mut self, id: &LanguageServerId, worktree: &Worktree) -> Result<Command>;
    fn language_server_workspace_configuration(
        &mut self, id: &LanguageServerId, worktree: &Worktree,
    ) -> Result<Option<serde_json::Value>>;
}
#[macro_export]
macro_rules! register_extension {
    ($name:ty) => { pub fn made() -> $name { <$name as $crate::Extension>::new() } }
}
"""
"""The part of zed_extension_api 0.7.0 that the extension uses, by its documentation on docs.rs."""


@pytest.mark.skipif(shutil.which("rustc") is None, reason="rustc is not installed")
def test_the_extension_for_zed_compiles_against_its_documented_interface(
    stores: Path, tmp_path: Path
) -> None:
    (tmp_path / "api.rs").write_text(ZED_API)
    common = ["rustc", "--edition", "2021", "--crate-type", "rlib", "--emit", "metadata"]
    api = [*common, "--crate-name", "zed_extension_api", "api.rs"]
    extension = [*common, "-D", "warnings", "--extern", "zed_extension_api=libzed_extension_api.rmeta"]
    for command in (api, [*extension, str(stores / "zed/src/lib.rs")]):
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr


def test_compiler_explorer_installs_and_starts_the_same_version(stores: Path) -> None:
    tool = read_yaml(stores / "compiler-explorer/tools.yaml")["tools"]["cyclelens"]
    (version,) = tool["targets"]
    assert version == PROJECT["version"]
    folder, package = (tool[key].replace("{{name}}", version) for key in ("dir", "package"))
    assert package == f"{PROJECT['name']}=={version}"
    lines = (stores / "compiler-explorer/c++.amazon.properties").read_text().splitlines()
    properties = dict(line.split("=", 1) for line in lines if not line.startswith("#"))
    program = tool["check_exe"].split()[0]
    assert properties["tools.cyclelenstrunk.exe"] == f"/opt/compiler-explorer/{folder}/{program}"
    script = (stores / "compiler-explorer/cyclelens-tool.ts").read_text()
    assert f"'{properties['tools.cyclelenstrunk.class']}'" in script


BASE_TOOL = """
import {execFileSync} from 'node:child_process';
import path from 'node:path';
export class BaseTool {
    constructor(tool) { this.tool = tool; }
    createErrorResponse(message) { return {code: -1, stderr: [{text: message}], stdout: []}; }
    async runTool(info, file, args) {
        const all = [...this.tool.options, ...args, file];
        const out = execFileSync(this.tool.exe, all, {cwd: path.dirname(file), encoding: 'utf8'});
        return {code: 0, stderr: [], stdout: out.split('\\n').map(text => ({text}))};
    }
}
"""
DRIVER = """
import fs from 'node:fs';
import {CyclelensTool} from './lib/tooling/cyclelens-tool.ts';
const {exe, shown, args, ...info} = JSON.parse(fs.readFileSync(0, 'utf8'));
const asmParser = {process: (text, filters) => ({asm: shown.map(line => ({text: line}))})};
const tool = new CyclelensTool({exe, options: []});
tool.runTool({...info, asmParser}, 'example.cpp', args).then(found => console.log(JSON.stringify(found)));
"""


@pytest.mark.skipif(not ESBUILD.exists(), reason="the packages of the VS Code extension are not installed")
@pytest.mark.parametrize("asm", ["a string", "lines"])
def test_compiler_explorers_tool_runs_by_its_protocol(stores: Path, tmp_path: Path, asm: str) -> None:
    """It gets the compiler's text, or lines if another tool has split it, and reads what the pane shows."""
    tooling = tmp_path / "lib/tooling"
    tooling.mkdir(parents=True)
    shutil.copy(stores / "compiler-explorer/cyclelens-tool.ts", tooling)
    (tooling / "base-tool.ts").write_text(BASE_TOOL)
    (tmp_path / "driver.ts").write_text(DRIVER)
    bundle = [
        str(ESBUILD),
        "driver.ts",
        "--bundle",
        "--platform=node",
        "--format=cjs",
        "--outfile=driver.cjs",
    ]
    subprocess.run(bundle, cwd=tmp_path, check=True, capture_output=True)
    shown = [".L3:", "        addss   xmm0, DWORD PTR [rdi]", "        add     rdi, 4", "        jne     .L3"]

    def run(**filters: bool) -> dict[str, Any]:
        request = {
            "exe": str(Path(sys.executable).with_name("cyclelens")),
            "shown": shown,
            "asm": '\t.file "example.cpp"\n' if asm == "a string" else [{"text": line} for line in shown],
            "filters": filters,
            "outputFilename": str(tmp_path / "output.s"),
            "args": ["--arch", "HSW"],
        }
        given = json.dumps(request)
        done = subprocess.run(
            ["node", "driver.cjs"], cwd=tmp_path, input=given, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        answer: dict[str, Any] = json.loads(done.stdout)
        return answer

    text = "\n".join(line["text"] for line in run(intel=True)["stdout"])
    assert "cyclelens.asm:1: .L3" in text
    assert re.search(r"3\.00 cycles/iter.* on HSW", text), text
    refused = run(binary=True)
    assert refused["code"] == -1
    assert "assembly" in refused["stderr"][0]["text"]
