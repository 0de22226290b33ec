#!/usr/bin/python3
"""Runs the shell parts of CI files as the services do, without the services.

  run_steps.py FILE --workspace DIR [--input NAME=VALUE]... [--variable NAME=VALUE]...
  run_steps.py FILE --scripts DIR

FILE is an action.yml (composite), a workflow of GitHub Actions, or a GitLab CI file.  Steps that use this project's
action run the action.yml beside this program's folder; of foreign actions it knows what those in docs/ci.md need: the
checkout (the workspace is there already), the uploads of SARIF and of an artifact (the file has to be there).  The exit
status is 0 when the job would be green, 1 when it would be red, and 2 when FILE itself is wrong.  --scripts writes the
scripts to DIR instead, for a linter.
"""
import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import yaml

PROJECT = pathlib.Path(__file__).resolve().parent.parent


class Wrong(Exception):
    """FILE is not what the service takes."""


def fill(text, context):
    """Replaces ${{ a.b.c }} by its value."""

    def value(match):
        here = context
        for name in match[1].split('.'):
            if not isinstance(here, dict) or name not in here:
                raise Wrong(f'nothing is known of {match[0]}')
            here = here[name]
        return str(here)

    return re.sub(r'\$\{\{\s*([\w.-]+)\s*\}\}', value, str(text))


def read_outputs(path):
    return dict(line.split('=', 1) for line in pathlib.Path(path).read_text().splitlines())


def run_script(step, context, workspace, composite):
    """One `run:` step; (exit status, outputs)."""
    script = step['run']
    if composite and 'shell' not in step:
        raise Wrong('a run: step of an action needs shell:')
    if '${{' in script:
        raise Wrong('an expression within a script can be injected into; hand it over in env:')
    if step.get('shell', 'bash') != 'bash':
        raise Wrong(f"shell {step['shell']} is not known")
    with tempfile.TemporaryDirectory() as temp:
        files = {name: f'{temp}/{name}' for name in ('GITHUB_OUTPUT', 'GITHUB_ENV', 'GITHUB_PATH')}
        for path in files.values():
            pathlib.Path(path).touch()
        env = dict(os.environ, GITHUB_ACTIONS='true', GITHUB_WORKSPACE=str(workspace), **files)
        env.setdefault('GITHUB_STEP_SUMMARY', f'{temp}/summary')
        env.update({name: fill(text, context) for name, text in step.get('env', {}).items()})
        sys.stdout.flush()
        done = subprocess.run(['bash', '--noprofile', '--norc', '-eo', 'pipefail', '-c', script],
                              cwd=workspace, env=env, check=False)
        return done.returncode, read_outputs(files['GITHUB_OUTPUT'])


def run_known(step, context, workspace):
    """A step that uses an action; (exit status, outputs)."""
    name = step['uses'].split('@')[0]
    given = {key: fill(text, context) for key, text in step.get('with', {}).items()}
    if name == 'actions/checkout':
        return 0, {}
    if name == 'github/codeql-action/upload-sarif':
        report = json.loads((workspace / given['sarif_file']).read_text())
        if report['version'] != '2.1.0':
            raise Wrong('this is not SARIF 2.1.0')
        print(f"uploads {given['sarif_file']}: {len(report['runs'][0]['results'])} results")
        return 0, {}
    if name == 'actions/upload-artifact':
        print(f"uploads {given['path']}: {(workspace / given['path']).stat().st_size > 0}")
        return 0, {}
    if name.endswith('/tracetool') or name == './':
        return run_action(yaml.safe_load((PROJECT / 'action.yml').read_text()), given, workspace)
    raise Wrong(f"the action {step['uses']} is not known here")


def run_steps(steps, context, workspace, composite):
    status = 0
    for number, step in enumerate(steps):
        condition = step.get('if', 'success()')
        if condition not in ('success()', 'always()'):
            raise Wrong(f'if: {condition} is not known here')
        if status != 0 and condition == 'success()':
            continue
        if 'uses' in step:
            got, outputs = run_known(step, context, workspace)
        else:
            got, outputs = run_script(step, context, workspace, composite)
        context['steps'][step.get('id', f'#{number}')] = {'outputs': outputs}
        status = status or got
    return status


def run_action(action, given, workspace):
    if action['runs']['using'] != 'composite':
        raise Wrong('only composite actions can be run')
    unknown = set(given) - set(action['inputs'])
    if unknown:
        raise Wrong(f'the action has no input {", ".join(sorted(unknown))}')
    inputs = {}
    for name, about in action['inputs'].items():
        if about.get('required') and name not in given:
            raise Wrong(f'the action needs the input {name}')
        inputs[name] = given.get(name, about.get('default', ''))
    context = {'inputs': inputs, 'steps': {}, 'github': {'action_path': str(PROJECT)}}
    status = run_steps(action['runs']['steps'], context, workspace, True)
    empty = {'status': '', 'sarif': '', 'page': '', 'tool': ''}
    for step in context['steps'].values():
        step['outputs'] = {**empty, **step['outputs']}
    return status, {name: fill(about['value'], context) for name, about in action['outputs'].items()}


def run_workflow(workflow, workspace):
    status = 0
    for job in workflow['jobs'].values():
        context = {'steps': {}, 'github': {'workspace': str(workspace)}}
        status = status or run_steps(job['steps'], context, workspace, False)
    return status


def run_gitlab(jobs, workspace, variables):
    status = 0
    for name, job in jobs.items():
        if name in ('include', 'variables', 'stages', 'default'):
            continue
        values = {**jobs.get('variables', {}), **job.get('variables', {}), **variables}
        env = dict(os.environ, CI_PROJECT_DIR=str(workspace), GITLAB_CI='true',
                   **{key: str(value) for key, value in values.items()})
        for script in job['script']:
            sys.stdout.flush()
            done = subprocess.run(['sh', '-e', '-c', script], cwd=workspace, env=env, check=False)
            status = status or done.returncode
        for kind, path in job.get('artifacts', {}).get('reports', {}).items():
            if not (workspace / path).is_file():
                raise Wrong(f'the report {kind} is missing: {path}')
            print(f'artifact {kind}: {path}')
    return status


def include_gitlab(jobs, folder):
    """Files named by include: of this project or beside FILE, before what is in FILE; a job here changes theirs."""
    merged = {}
    for one in jobs.pop('include', []):
        path = one['local'] if isinstance(one, dict) and 'local' in one else one.get('file', one.get('remote'))
        near = folder / path.lstrip('/')
        text = near if near.is_file() else PROJECT / 'ci' / pathlib.PurePath(path).name
        merged.update(yaml.safe_load(text.read_text()))
    for name, job in jobs.items():
        theirs = merged.get(name)
        if isinstance(theirs, dict) and isinstance(job, dict):
            job = {**theirs, **job, **({'variables': {**theirs.get('variables', {}), **job['variables']}}
                                       if 'variables' in job else {})}
        merged[name] = job
    return merged


def write_scripts(document, folder):
    steps = document['runs']['steps'] if 'runs' in document else [
        step for job in document.values() if isinstance(job, dict)
        for step in [{'run': script, 'shell': 'sh'} for script in job.get('script', [])]]
    for number, step in enumerate(steps):
        if 'run' in step:
            (folder / f"{number}.sh").write_text(f"#!/bin/{step['shell']}\nset -e\n{step['run']}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('file', type=pathlib.Path)
    parser.add_argument('--workspace', type=lambda path: pathlib.Path(path).resolve())
    parser.add_argument('--input', action='append', default=[])
    parser.add_argument('--variable', action='append', default=[])
    parser.add_argument('--scripts', type=pathlib.Path)
    asked = parser.parse_args()
    document = yaml.safe_load(asked.file.read_text())
    pairs = dict(pair.split('=', 1) for pair in asked.input + asked.variable)
    try:
        if asked.scripts:
            write_scripts(document, asked.scripts)
            return 0
        if 'runs' in document:
            status, outputs = run_action(document, pairs, asked.workspace)
            for name, value in outputs.items():
                print(f'output {name}={value}')
        elif 'jobs' in document:
            status = run_workflow(document, asked.workspace)
        else:
            jobs = include_gitlab(document, asked.file.resolve().parent)
            status = run_gitlab(jobs, asked.workspace, pairs)
    except (Wrong, KeyError, OSError, ValueError) as fault:
        print(f'{asked.file}: {type(fault).__name__}: {fault}', file=sys.stderr)
        return 2
    print('job: ' + ('green' if status == 0 else 'red'))
    return 1 if status else 0


sys.exit(main())
